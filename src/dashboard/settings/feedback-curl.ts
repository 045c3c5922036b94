import { serverNow } from '../api/server-clock.ts'

/** The webhook URL; the configured base URL takes precedence over the browser's origin. */
export const feedbackAddress = (baseUrl: string | null = null) =>
  `${baseUrl ?? location.origin}/api/analytics/webhook`

/** A curl command that sends one feedback event. */
export const feedbackCurl = (secret = '$WEBHOOK_SECRET') => `curl -s ${feedbackAddress()} \\
  -H "Authorization: Bearer ${secret}" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    // A new timestamp each time: the same event again is a duplicate.
    timestamp: new Date(serverNow()).toISOString(),
    properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'Hello, Inlet' },
  })}'`
