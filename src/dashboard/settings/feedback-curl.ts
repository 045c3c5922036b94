/** Where the analytics platform sends feedback: what the service says of itself goes before what the browser uses. */
export const feedbackAddress = (baseUrl: string | null = null) =>
  `${baseUrl ?? location.origin}/api/analytics/webhook`

/** A line that sends one piece of feedback, as the platform does. */
export const feedbackCurl = (secret = '$WEBHOOK_SECRET') => `curl -s ${feedbackAddress()} \\
  -H "Authorization: Bearer ${secret}" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    // Of now: the same event again would be a repeat, and make no second task.
    timestamp: new Date().toISOString(),
    properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'Hello, Inlet' },
  })}'`
