import { type EncryptionKeys, keyId, reseal } from '../domain/token-seal.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import { reencryptedConnection } from './codehost/token.ts'
import { reencryptedSource } from './sources/secrets.ts'
import { reencryptedWebhook } from './webhooks/signer.ts'

/** A stored text. */
interface Encrypted {
  owner: string
  /** What it is, such as `token`. */
  name: string
  /** When it is of no use any more; null or absent: never. */
  until?: Date | null
}

/** Returns a stored text encrypted with the first key; the same text if it cannot be decrypted. */
export type Reencrypt = (sealed: string, encrypted: Encrypted) => string

interface Reencryption {
  /** Encrypted again. */
  changed: number
  /** Were encrypted with the first key already. */
  kept: number
  /** What no key decrypts, such as `the token of the project "Web" (…)`. */
  unreadable: string[]
}

interface ReencryptionDeps {
  repos: Repositories
  keys: EncryptionKeys
  clock: Pick<Clock, 'now'>
  randomBytes(size: number): Buffer
  /** Aborted: rejects. What was encrypted again until then stays so. */
  signal: AbortSignal
}

/** Rows that have encrypted columns. */
interface Kind<Row, Change> {
  list(page: { after: string | undefined; limit: number }): Promise<Row[]>
  /** Locks the row, if it is still there. */
  findForUpdate(repos: BoundRepositories, row: Row): Promise<Row | undefined>
  update(repos: BoundRepositories, what: { id: string; change: Change }): Promise<void>
  reencrypted(row: Row, reencrypt: Reencrypt): Change
  /** Whose it is, such as `the source "Forms"`. */
  ownerOf(repos: BoundRepositories, row: Row): Promise<string>
}

const PAGE = 100

/**
 * Encrypts everything that is stored encrypted with the first key. Each row in a transaction of its own, so that it can
 * be interrupted anywhere and repeated: until then, the other keys decrypt the rest.
 */
export async function reencryptAll(deps: ReencryptionDeps): Promise<Reencryption> {
  const { codehost, sources, webhooks } = deps.repos.within(everywhere)
  const parts = [
    await reencryptKind(deps, {
      list: codehost.list,
      findForUpdate: ({ codehost }, { projectId }) => codehost.findForUpdate(projectId),
      update: ({ codehost }, { id, change }) => codehost.update(id, change),
      reencrypted: reencryptedConnection,
      async ownerOf({ projects }, { projectId: id }) {
        const { name = '' } = (await projects.find(id)) ?? {}
        return `the project ${named({ id, name })}`
      },
    }),
    await reencryptKind(deps, {
      list: (page) => sources.list({ ...page, projectId: undefined }),
      findForUpdate: ({ sources }, { id }) => sources.findForUpdate(id),
      update: ({ sources }, { id, change }) => sources.update(id, change),
      reencrypted: reencryptedSource,
      ownerOf: async (_repos, source) => `the source ${named(source)}`,
    }),
    await reencryptKind(deps, {
      list: webhooks.list,
      findForUpdate: ({ webhooks }, { id }) => webhooks.findForUpdate(id),
      update: ({ webhooks }, { id, change }) => webhooks.update(id, change),
      reencrypted: reencryptedWebhook,
      ownerOf: async (_repos, webhook) => `the outgoing webhook ${named(webhook)}`,
    }),
  ]
  return parts.reduce(sumOf)
}

/** How many connected instances encrypt with another key than this, or with none. */
export const countOtherEncryptors = ({ instances }: Repositories, [key]: EncryptionKeys) =>
  instances.countBesides(keyId(key))

async function reencryptKind<Row extends { id: string }, Change>(
  { repos, signal, ...deps }: ReencryptionDeps,
  kind: Kind<Row, Change>,
): Promise<Reencryption> {
  const { list, findForUpdate, update, reencrypted, ownerOf } = kind
  let total: Reencryption = { changed: 0, kept: 0, unreadable: [] }
  for (let after: string | undefined; ; ) {
    const rows = await list({ after, limit: PAGE })
    for (const listed of rows) {
      signal.throwIfAborted()
      const part = await repos.within(everywhere).transaction(async (repos) => {
        const row = await findForUpdate(repos, listed)
        if (!row) return { changed: 0, kept: 0, unreadable: [] }
        const { reencrypt, outcome } = reencryptor(deps)
        const change = reencrypted(row, reencrypt)
        if (outcome.changed > 0) await update(repos, { id: row.id, change })
        return { ...outcome, unreadable: await unreadableOf(outcome, () => ownerOf(repos, row)) }
      })
      total = sumOf(total, part)
    }
    after = rows.at(-1)?.id
    if (after === undefined) return total
  }
}

/** Encrypts the texts of a row again, and counts them. */
function reencryptor({ clock, ...options }: Pick<ReencryptionDeps, 'keys' | 'clock' | 'randomBytes'>) {
  const outcome: Reencryption = { changed: 0, kept: 0, unreadable: [] }
  const reencrypt: Reencrypt = (sealed, { owner, name, until = null }) => {
    const fresh = reseal(sealed, { ...options, owner })
    if (fresh === undefined) {
      const isUseless = until !== null && until <= clock.now()
      if (!isUseless) outcome.unreadable.push(name)
      return sealed
    }
    if (fresh === sealed) outcome.kept++
    else outcome.changed++
    return fresh
  }
  return { reencrypt, outcome }
}

async function unreadableOf({ unreadable }: Reencryption, ownerOf: () => Promise<string>): Promise<string[]> {
  if (unreadable.length === 0) return []
  const owner = await ownerOf()
  return unreadable.map((name) => `the ${name} of ${owner}`)
}

const named = ({ id, name }: { id: string; name: string }) => `${JSON.stringify(name)} (${id})`

const sumOf = (one: Reencryption, other: Reencryption): Reencryption => ({
  changed: one.changed + other.changed,
  kept: one.kept + other.kept,
  unreadable: [...one.unreadable, ...other.unreadable],
})
