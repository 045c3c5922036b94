import { type EncryptionKeys, isSealed, keyId, keyIdIn, reseal, unseal } from '../domain/token-seal.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import { reencryptedConnection } from './codehost/token.ts'
import { reencryptedProvider } from './people/provider-secrets.ts'
import type { Reencrypt } from './rotating-secrets.ts'
import { reencryptedSource } from './sources/secrets.ts'
import { reencryptedWebhook } from './webhooks/signer.ts'

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

interface ReadingDeps extends Pick<ReencryptionDeps, 'repos' | 'clock'> {
  /** Without them, nothing can be decrypted. */
  keys: EncryptionKeys | undefined
}

/** Counts of rows, and the first names, such as `the secret of the source "Forms" (…)`. */
interface UnreadableSecrets {
  connections: number
  sources: number
  webhooks: number
  identityProviders: number
  names: string[]
  /** Of the keys that encrypted them, as the beginning of their SHA-256. */
  keyIds: string[]
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
/** Of each kind, and of keys. */
const MAX_NAMED = 10

/** Everything that has encrypted columns, and what is done with each kind of row. */
function kindsIn(repos: Repositories) {
  const { codehost, sources, webhooks, identityProviders } = repos.within(everywhere)
  return {
    connections: kindOf({
      list: codehost.list,
      findForUpdate: ({ codehost }, { projectId }) => codehost.findForUpdate(projectId),
      update: ({ codehost }, { id, change }) => codehost.update(id, change),
      reencrypted: reencryptedConnection,
      async ownerOf({ projects }, { projectId: id }) {
        const { name = '' } = (await projects.find(id)) ?? {}
        return `the project ${named({ id, name })}`
      },
    }),
    sources: kindOf({
      list: (page) => sources.list({ ...page, projectId: undefined }),
      findForUpdate: ({ sources }, { id }) => sources.findForUpdate(id),
      update: ({ sources }, { id, change }) => sources.update(id, change),
      reencrypted: reencryptedSource,
      ownerOf: async (_repos, source) => `the source ${named(source)}`,
    }),
    webhooks: kindOf({
      list: webhooks.list,
      findForUpdate: ({ webhooks }, { id }) => webhooks.findForUpdate(id),
      update: ({ webhooks }, { id, change }) => webhooks.update(id, change),
      reencrypted: reencryptedWebhook,
      ownerOf: async (_repos, webhook) => `the outgoing webhook ${named(webhook)}`,
    }),
    identityProviders: kindOf({
      // All are on the first page.
      list: async ({ after }) => (after === undefined ? identityProviders.list() : []),
      findForUpdate: ({ identityProviders }, { id }) => identityProviders.findForUpdate(id),
      update: ({ identityProviders }, { id, change }) => identityProviders.update(id, change),
      reencrypted: reencryptedProvider,
      ownerOf: async (_repos, provider) => `the identity provider ${named(provider)}`,
    }),
  }
}

/** The two passes over a kind, whatever its rows are. */
const kindOf = <Row extends { id: string }, Change>(kind: Kind<Row, Change>) => ({
  reencrypt: (deps: ReencryptionDeps) => reencryptKind(deps, kind),
  findUnreadable: (deps: ReadingDeps) => findUnreadable(deps, kind),
})

/**
 * Encrypts everything that is stored encrypted with the first key. Each row in a transaction of its own, so that it can
 * be interrupted anywhere and repeated: until then, the other keys decrypt the rest.
 */
export async function reencryptAll(deps: ReencryptionDeps): Promise<Reencryption> {
  const { connections, sources, webhooks, identityProviders } = kindsIn(deps.repos)
  const parts = [
    await connections.reencrypt(deps),
    await sources.reencrypt(deps),
    await webhooks.reencrypt(deps),
    await identityProviders.reencrypt(deps),
  ]
  return parts.reduce(sumOf)
}

/** What the keys of this instance do not decrypt; undefined if they decrypt everything. */
export async function unreadableSecrets(deps: ReadingDeps): Promise<UnreadableSecrets | undefined> {
  const { connections, sources, webhooks, identityProviders } = kindsIn(deps.repos)
  const found = {
    connections: await connections.findUnreadable(deps),
    sources: await sources.findUnreadable(deps),
    webhooks: await webhooks.findUnreadable(deps),
    identityProviders: await identityProviders.findUnreadable(deps),
  }
  const parts = Object.values(found)
  if (parts.every(({ count }) => count === 0)) return undefined
  return {
    connections: found.connections.count,
    sources: found.sources.count,
    webhooks: found.webhooks.count,
    identityProviders: found.identityProviders.count,
    names: parts.flatMap(({ names }) => names),
    keyIds: [...new Set(parts.flatMap(({ keyIds }) => keyIds))],
  }
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
    if (!isSealed(sealed)) return sealed
    const fresh = reseal(sealed, { ...options, owner })
    if (fresh === undefined) {
      if (!isUseless(until, clock)) outcome.unreadable.push(name)
      return sealed
    }
    if (fresh === sealed) outcome.kept++
    else outcome.changed++
    return fresh
  }
  return { reencrypt, outcome }
}

async function findUnreadable<Row extends { id: string }, Change>(
  { repos, keys, clock }: ReadingDeps,
  { list, reencrypted, ownerOf }: Kind<Row, Change>,
) {
  const found = { count: 0, names: [] as string[], keyIds: new Set<string>() }
  for (let after: string | undefined; ; ) {
    const rows = await list({ after, limit: PAGE })
    for (const row of rows) {
      const unreadable: string[] = []
      reencrypted(row, (sealed, { owner, name, until = null }) => {
        const isRead = !isSealed(sealed) || (keys && unseal(sealed, { keys, owner })) !== undefined
        if (isRead || isUseless(until, clock)) return sealed
        unreadable.push(name)
        if (found.keyIds.size < MAX_NAMED) found.keyIds.add(keyIdIn(sealed) ?? 'unknown')
        return sealed
      })
      if (unreadable.length === 0) continue
      found.count++
      if (found.count > MAX_NAMED) continue
      const owner = await ownerOf(repos.within(everywhere), row)
      found.names.push(...unreadable.map((name) => `the ${name} of ${owner}`))
    }
    after = rows.at(-1)?.id
    if (after === undefined) return { ...found, keyIds: [...found.keyIds] }
  }
}

const isUseless = (until: Date | null, clock: Pick<Clock, 'now'>) => until !== null && until <= clock.now()

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
