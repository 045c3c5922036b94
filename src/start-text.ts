import type { AddressInfo } from 'node:net'
import type { FirstSecrets } from './services/setup.ts'

/** Secrets that cannot be shown again. */
export function shownOnce({ adminKey, webhookSecret }: FirstSecrets, keyCommand?: string): string {
  const lines = []
  if (adminKey) {
    lines.push('', 'Admin key (shown only once):', `  ${adminKey}`)
    if (keyCommand) lines.push('If you lose it, create another one with this command:', `  ${keyCommand}`)
  }
  if (webhookSecret) lines.push('', 'Webhook secret (shown only once):', `  ${webhookSecret}`)
  return lines.length > 0 ? `${lines.join('\n')}\n` : ''
}

/** What creates an admin key where this process runs. The names are those of docker-compose.yml and docs/kubernetes. */
export function keyCommandOf({ env, argv }: Pick<NodeJS.Process, 'env' | 'argv'>): string {
  if (env.npm_lifecycle_event) return 'npm run keys -- create --admin'
  const command = 'node src/cli.ts keys create --admin'
  // Kubernetes sets it in each container.
  if (env.KUBERNETES_SERVICE_HOST) return `kubectl -n inlet exec deployment/inlet -- ${command}`
  // The entry point of the image.
  if (argv[1]?.endsWith('cli.ts')) return 'docker compose run --rm inlet keys create --admin'
  return command
}

/** How an operator without a key gets one. */
export const keyHint = (keyCommand: string) => `If you have no key, create one:
  ${keyCommand}

`

export function taskExamples(url: string, adminKey: string | undefined): string {
  const key = `-H 'X-API-Key: ${adminKey ?? '<your key>'}'`
  return `
Inlet is running at ${url}/

Create a task:
  curl -s ${url}/api/tasks ${key} -H 'Content-Type: application/json' -d '{"title":"Hello, Inlet"}'
List tasks:
  curl -s ${url}/api/tasks ${key}
`
}

export function feedbackExample(url: string, webhookSecret: string | undefined): string {
  const event = {
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    timestamp: new Date().toISOString(),
    properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'Hello, Inlet' },
  }
  const secret = webhookSecret ?? '<your webhook secret>'
  return `Send feedback:
  curl -s ${url}/api/analytics/webhook -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '${JSON.stringify(event)}'

`
}

interface ListeningHosts {
  host: string
  webhookHost: string
  webhookPort: number | undefined
  publicUrl: string | undefined
}

/** The address, if any, to which other machines can send keys and secrets without https. */
export function hostInClear({
  host,
  webhookHost,
  webhookPort,
  publicUrl,
}: ListeningHosts): string | undefined {
  if (publicUrl?.startsWith('https:')) return undefined
  const hosts = webhookPort === undefined ? [host] : [host, webhookHost]
  return hosts.find((each) => each !== 'localhost' && each !== '::1' && !each.startsWith('127.'))
}

export const CLEAR_TEXT =
  'other machines can reach this port, and PUBLIC_URL does not begin with https: keys, secrets, and sessions are sent unencrypted. Put a proxy with https in front, and set PUBLIC_URL: see "Behind a proxy" in docs/operating.md'

export const CLOCK_TEXT =
  'the clock of this machine differs from that of the database: signed deliveries can be refused, and sessions, expiring keys, and repeated requests be taken for too old. Synchronize both clocks, such as with NTP'

/** For the passkeys that do not work under this public URL. */
export const PASSKEYS_TEXT =
  'these passkeys were added under another PUBLIC_URL, and do not work here: their people need another way to sign in'

/** For the identity providers that return to another public URL. */
export const PROVIDERS_TEXT =
  'people last signed in at these identity providers under another PUBLIC_URL: add the redirect URL of Settings > Sign-in at each of them'

/** Signatures may be five minutes old. */
const MAX_SKEW_MS = 60_000

export const isClockOff = (skewMs: number) => Math.abs(skewMs) > MAX_SKEW_MS

interface KeySettings extends Pick<DatabaseUrls, 'databaseUrl'> {
  encryptionKey: unknown
}

/** What the log says when stored secrets were encrypted with another key. */
export function unreadableText({ databaseUrl, encryptionKey }: KeySettings): string {
  const variable = databaseUrl && !encryptionKey ? 'ENCRYPTION_KEY' : 'ENCRYPTION_KEY_PREVIOUS'
  return `the encryption key is not the one that these tokens and secrets were encrypted with. Set ${variable} to that key, and restart. Until then, syncs and webhooks of these fail, and signed deliveries to them get 503. If that key is lost: see "If the encryption key is lost" in docs/operating.md`
}

interface DatabaseUrls {
  databaseUrl: string | undefined
  databaseDirectUrl: string | undefined
}

/** How messages name the database, by the connections to it: those of requests, and those with a session of their own. */
export function databaseNames({ databaseUrl, databaseDirectUrl }: DatabaseUrls) {
  const requests = databaseUrl === undefined ? 'the embedded database' : 'the database in DATABASE_URL'
  return {
    requests,
    sessions: databaseDirectUrl === undefined ? requests : 'the database in DATABASE_DIRECT_URL',
  }
}

interface Listening {
  host: string
  /** As configured; 0 for any. */
  port: number
  address: string | AddressInfo | null
}

/** The address to show people. */
export function urlOf({ host, port: configured, address }: Listening): string {
  const port = typeof address === 'object' && address ? address.port : configured
  // Browsers allow passkeys there, and not at 127.0.0.1.
  const name = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host) ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
