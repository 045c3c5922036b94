import type { CodeHost, HostAccess, Refusal, Repository, Unreachable } from '../../clients/codehost.ts'
import { connectionActivity, settingsOf } from '../../domain/codehost/connection.ts'
import { bringsNoCredentials, credentialChange, givenCredentials } from '../../domain/codehost/credentials.ts'
import { nextFullAt, nextRunAt, sooner } from '../../domain/codehost/progress.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import { isHostOf, type NamedRepository, repositoryOf } from '../../domain/codehost/repository.ts'
import { ACCESS_ERRORS, excludedKinds } from '../../domain/codehost/write-back.ts'
import {
  codehostRefused,
  codehostUnreachable,
  codehostUrlNotAllowed,
  connectionNotFound,
  encryptionKeyMissing,
  listNotFound,
  tokenRequired,
  validationFailed,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { ConnectionRequest } from '../../schemas/codehost.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { writableProject } from '../writable-project.ts'
import { endRun } from './run-end.ts'
import { DISCONNECTED } from './run-errors.ts'
import { type ConnectionView, toConnection } from './run-view.ts'
import {
  type CodehostDeps,
  type Credentials,
  isSameSecret,
  isStored,
  type StoredCredentials,
  type TokenVault,
} from './token.ts'
import { type TokenPauses, tokenPauses } from './token-pauses.ts'

export interface ConnectDeps extends Pick<CodehostDeps, 'host' | 'apiUrls' | 'encryptionKeys'> {
  repos: Repositories
  clock: Clock
  vault: TokenVault
}

interface Connecting {
  projectId: string
  named: NamedRepository
  input: ConnectionRequest
  given: Credentials | undefined
}

/** Connects a project to a repository after checking that the code host lets it be read. */
export function repositoryConnector({ repos, clock, host, apiUrls, encryptionKeys, vault }: ConnectDeps) {
  const pauses = tokenPauses({ repos })

  /**
   * @throws project_not_found, project_archived, list_not_found, validation_failed, codehost_url_not_allowed,
   * insufficient_scope, encryption_key_missing, codehost_token_rejected, codehost_repository_not_found,
   * codehost_access_denied, codehost_unreachable
   */
  return async function connect(
    caller: Caller,
    { projectId, input }: { projectId: string; input: ConnectionRequest },
  ): Promise<ConnectionView> {
    const named = repositoryOf(input.repository)
    if (!named) throw invalidRepository('must be owner/name, or the https or git@ URL of a repository')
    const given = givenCredentials(input)
    for (;;) {
      const connection = await connectOnce(caller, { projectId, named, input, given })
      if (connection) return connection
    }
  }

  /** Undefined if the stored connection changed during the requests to the code host: then repeat. */
  async function connectOnce(
    caller: Caller,
    { projectId, named: { name, host: urlHost }, input, given }: Connecting,
  ): Promise<ConnectionView | undefined> {
    const seen = await lockWritable(caller, { projectId, listId: input.listId })
    const apiUrl = allowedUrl(input.apiUrl ?? seen?.apiUrl)
    if (urlHost && !isHostOf(apiUrl, urlHost)) throw hostMismatch(urlHost, apiUrl)
    // Checked before any request: the response to somebody else's token would reveal what exists.
    const isSameName = seen?.repository.toLowerCase() === name.toLowerCase() && seen.apiUrl === apiUrl
    if (bringsNoCredentials(caller, { given: input, same: isSameName ? seen : undefined })) {
      throw tokenRequired()
    }
    if (given && !encryptionKeys) throw encryptionKeyMissing()
    const stored = storedFor(apiUrl, seen)
    const credentials = credentialChange(input, stored)
    const own = credentials === 'keep' && stored ? vault.open(stored) : given
    const access = { apiUrl, ...(own ?? { token: vault.sharedToken(apiUrl) }) }
    const repository = await reachable({ host, clock, pauses }, { access, name })
    const mayWrite = !repository.isReadOnly && hasCredentials(access)

    return repos.within(caller).transaction(async (repos) => {
      await writableProject(repos, { id: projectId, lock: 'update' })
      await refuseForeignList(repos, { projectId, listId: input.listId })
      const present = await repos.codehost.findForUpdate(projectId)
      if (input.apiUrl === undefined && present?.apiUrl !== seen?.apiUrl) return undefined
      if (!given && !isSameSecret(storedFor(apiUrl, present), stored)) return undefined
      const now = clock.now()
      const isSame = present?.repositoryId === repository.id && present.apiUrl === apiUrl
      if (bringsNoCredentials(caller, { given: input, same: isSame ? present : undefined })) {
        throw tokenRequired()
      }
      if (present && !isSame) {
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run) await endRun(repos, { clock, run, error: DISCONNECTED })
        await repos.codehostWrites.cancel(present.id)
        await repos.codehost.delete(projectId)
      }
      const id = isSame ? present.id : clock.newId(now)
      const isKept = isSame && credentials === 'keep'
      const { listId, schedule, comments, writeBack } = settingsOf(input, present)
      // What made the last run fail may be mended: the repository could be read just now.
      const [latest] = isSame && schedule !== 'off' ? await repos.codehost.listWithRuns([projectId]) : []
      const isMended = latest?.lastRun?.status === 'failed'
      if (writeBack !== 'off' && !mayWrite) throw codehostRefused('codehost_access_denied', CANNOT_WRITE)
      if (isSame) await repos.codehostWrites.cancel(id, { kinds: excludedKinds(writeBack) })
      const change = {
        repository: repository.name,
        ...(isKept ? secretOf(present) : own ? vault.seal(own, id) : { token: null, app: null }),
        listId,
        schedule,
        comments,
        // A comment deleted during the first listing may shift another one out of it.
        ...(isSame &&
          comments &&
          !present.comments && { nextFullAt: sooner(present.nextFullAt, nextFullAt('attempted', now)) }),
        writeBack,
        updatedAt: now,
        nextRunAt: isMended ? now : sooner(isSame ? present.nextRunAt : null, nextRunAt(schedule, now)),
      }
      if (isSame && !isKept) {
        // The run was rate limited with the old credentials.
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run?.status === 'rate_limited') await repos.syncRuns.update(run.id, { retryAt: null })
      }
      const secret = isSame ? undefined : vault.newWebhookSecret(id)
      if (isSame) {
        await repos.codehost.update(id, change)
        await repos.codehostWrites.resume(id, { codes: isKept ? [] : ACCESS_ERRORS })
      } else
        await repos.codehost.insert({
          ...newConnection({ id, projectId, now }),
          webhookSecret: secret?.sealed ?? null,
          ...change,
          apiUrl,
          repositoryId: repository.id,
        })
      const after = { ...change, id, apiUrl }
      const activity = connectionActivity({ before: present, after, isReplaced: given !== undefined })
      if (activity) {
        const about = { projectId, metadata: activity.metadata }
        await repos.activity.insert([
          activityRow(clock, { now, type: activity.type, actor: actorOf(caller), ...about }),
        ])
      }
      await repos.configurationChanges.announceProject(projectId)
      const connection = await connectionOf(repos, projectId)
      return secret ? withSecret(connection, secret.text) : connection
    })
  }

  /** Checks before any request that the caller can write to the project, and that the list belongs to it. */
  async function lockWritable(
    caller: Caller,
    { projectId, listId }: { projectId: string; listId: string | null | undefined },
  ) {
    return repos.within(caller).transaction(async (repos) => {
      await writableProject(repos, { id: projectId, lock: 'update' })
      await refuseForeignList(repos, { projectId, listId })
      return repos.codehost.find(projectId)
    })
  }

  function allowedUrl(given: string | undefined): string {
    const url = given === undefined ? apiUrls[0] : URL.parse(given)?.href.replace(/\/+$/, '')
    if (url === undefined || !apiUrls.includes(url)) throw codehostUrlNotAllowed(given ?? '', apiUrls)
    return url
  }
}

/**
 * The connection of a project.
 * @throws connection_not_found
 */
export async function connectionOf(repos: BoundRepositories, projectId: string): Promise<ConnectionView> {
  const [connection] = await repos.codehost.listWithRuns([projectId])
  if (!connection) throw connectionNotFound()
  return toConnection(connection, await repos.pushedDeliveries.findLatestTime(connection.id))
}

/** A new secret is returned once, with the connection that it was created for. */
const withSecret = (connection: ConnectionView, secret: string): ConnectionView => ({
  ...connection,
  webhook: { ...connection.webhook, secret },
})

/** The stored credentials of a connection, which are only ever sent to the host that they were given for. */
const storedFor = (apiUrl: string, connection: ConnectionRow | undefined) =>
  connection?.apiUrl === apiUrl && isStored(connection) ? connection : undefined

const secretOf = ({ token, app }: StoredCredentials): StoredCredentials => ({ token, app })

async function refuseForeignList(
  repos: BoundRepositories,
  { projectId, listId = null }: { projectId: string; listId?: string | null | undefined },
) {
  const list = listId === null ? undefined : await repos.lists.find(listId)
  if (listId !== null && list?.projectId !== projectId) throw listNotFound(listId)
}

const CANNOT_WRITE =
  'Write-back needs credentials that can write to the issues of this repository. Send a token or a GitHub App with write access, or turn write-back off.'

const newConnection = ({ id, projectId, now }: { id: string; projectId: string; now: Date }) => ({
  id,
  projectId,
  webhookSecret: null,
  previousWebhookSecrets: [],
  position: null,
  commentsPosition: null,
  nextRunAt: null,
  // An item deleted during the first listing may shift another one out of it.
  nextFullAt: nextFullAt('attempted', now),
  connectedAt: now,
})

const invalidRepository = (message: string) =>
  validationFailed([{ path: '/repository', code: 'wrong_format', message }])

const hostMismatch = (host: string, apiUrl: string) =>
  invalidRepository(
    `is on ${host.slice(0, 100)}, but apiUrl is ${apiUrl}: send owner/name, or the apiUrl of that host`,
  )

const hasCredentials = ({ token, app }: HostAccess) => token !== null || app !== undefined

/** Finds a repository and checks that its issues can be read. */
async function reachable(
  { host, clock, pauses }: { host: CodeHost; clock: Pick<Clock, 'now'>; pauses: TokenPauses },
  { access, name }: { access: HostAccess; name: string },
): Promise<Repository> {
  const paused = await pauses.remaining(access)
  if (paused > 0) throw limited(paused)
  const found = await host.findRepository(access, { nameOrId: name })
  if (found.outcome !== 'found') throw await refusal(found)
  const { repository } = found
  // A visible repository may have unreadable issues.
  const page = await host.readPage(access, { url: host.latestUrl(access.apiUrl, repository.id) })
  if (page.outcome === 'refused' || page.outcome === 'unreachable') throw await refusal(page)
  return repository

  async function refusal(response: Refusal | Unreachable) {
    if (response.outcome === 'unreachable') return codehostUnreachable(response.reason)
    const now = clock.now()
    const judged = judgeRefusal(response, { now, access, limitedBefore: 0 })
    if (judged.verdict === 'fail') return codehostRefused(judged.code, judged.message)
    return limited(await pauses.pause(access, { now, retryAt: judged.retryAt }))
  }

  function limited(forMs: number) {
    const until = new Date(clock.now().getTime() + forMs).toISOString()
    return codehostUnreachable(`it limits requests until ${until}.`, Math.ceil(forMs / 1000))
  }
}
