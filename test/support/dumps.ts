import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { SourceWithSecret } from '../../src/schemas/source.ts'
import type { WebhookWithSecret } from '../../src/schemas/webhook.ts'
import type { HostDelivery, HostWebhook } from './code-host-deliveries.ts'
import { withAdmin } from './postgres.ts'

/** What `test/dumps/make.ts` wrote beside a dump: the secrets of its time, and what its version served. */
export interface Dump {
  madeAt: string
  encryptionKey: string
  hostUrl: string
  receiverUrl: string
  adminKey: string
  key: string
  revokedKey: string
  session: string
  webhookSecret: string
  /** A create that had this idempotency key, and its task. */
  idempotent: { path: string; body: object; key: string; id: string }
  feedback: { event: object; taskId: string }
  source?: SourceWithSecret
  webhook?: WebhookWithSecret
  /** What the code host has sent; `waiting` has failed once, and is tried again. */
  pushes?: { webhook: HostWebhook; applied: SentPush; waiting: SentPush }
  /** A delivery of a source that is processed later. */
  pending?: { source: SourceWithSecret; id: string; payload: { title: string } }
  /** Responses by path. */
  served: Record<string, unknown>
}

export interface SentPush {
  deliveryId: string
  delivery: HostDelivery
}

const FOLDER = fileURLToPath(new URL('../dumps/', import.meta.url))

/** The numbers of the migrations that they end with, oldest first. */
export const DUMPS = readdirSync(FOLDER)
  .flatMap((name) => /^(\d+)\.sql\.gz$/.exec(name)?.[1] ?? [])
  .sort()

/** Loads a dump into an empty database, as if the code host and the receiver had these addresses all the time. */
export async function loadDump(
  name: string,
  { connectionString, ...urls }: { connectionString: string; hostUrl: string; receiverUrl: string },
): Promise<Dump> {
  const original: Dump = JSON.parse(unzipped(`${name}.json.gz`))
  const moved = (text: string) =>
    text.replaceAll(original.hostUrl, urls.hostUrl).replaceAll(original.receiverUrl, urls.receiverUrl)
  await withAdmin(connectionString, (client) => client.query(moved(unzipped(`${name}.sql.gz`))))
  return JSON.parse(moved(JSON.stringify(original)))
}

const unzipped = (file: string) => gunzipSync(readFileSync(FOLDER + file)).toString()
