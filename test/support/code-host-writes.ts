import { commentDelivery, commentJson, type HostComment } from './code-host-comments.ts'
import { type HostDelivery, itemDelivery } from './code-host-deliveries.ts'
import { type HostItem, type HostRepository, issueJson } from './code-host-items.ts'
import { gone, type HostResponse, ok, refused } from './code-host-responses.ts'

/** Longer bodies are refused. */
const MAX_BODY_LENGTH = 65_536

interface Write {
  api: string
  method: string
  /** Below the repository. */
  path: string
  body: unknown
  token: Writer | undefined
}

/** What a token may write, and as whom. */
export interface Writer {
  /** Who writes. */
  login?: string
  /** False: the token has no permission to write, whoever it belongs to. */
  canWriteIssues?: boolean
  /** False: it belongs to somebody who may comment on unlocked items, and change only comments of their own. */
  isCollaborator?: boolean
  /** It belongs to an App, which has none of the permissions of people. */
  isApp?: boolean
}

/** A change of a repository by a write. */
export interface HostChange {
  /** What a webhook of the repository reports. */
  delivery: HostDelivery
  writer: Writer
}

interface HostWrites {
  /** Advances the clock of the host by the time of a change, and returns it. */
  tick(): number
  addComment(repository: HostRepository, values: Pick<HostComment, 'number' | 'body' | 'author'>): HostComment
  onChange(change: HostChange): void
}

/** The writes of the fake code host: the state of issues and pull requests, and comments. */
export function hostWrites({ tick, addComment, onChange }: HostWrites) {
  let allowed = Number.POSITIVE_INFINITY
  let limitHeaders: Record<string, string> = {}

  return {
    /** Refuses each write after so many. */
    limit(count: number, { retryAfter = '60' as string | null } = {}) {
      allowed = count
      limitHeaders = retryAfter === null ? {} : { 'retry-after': retryAfter }
    },

    respond(repository: HostRepository, { api, method, path, body, token }: Write): HostResponse {
      if (!token) return refused(401, 'Requires authentication')
      if (token.canWriteIssues === false)
        return refused(403, 'Resource not accessible by personal access token')
      if (--allowed < 0) return refused(403, SECONDARY_LIMIT, limitHeaders)
      if (repository.isArchived) return refused(403, 'Repository was archived so is read-only.')
      const about = { api, repository }
      const values = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
      const report = (delivery: HostDelivery) => onChange({ delivery, writer: token })
      const [, number, isComments] = /^\/issues\/(\d+)(\/comments)?$/.exec(path) ?? []
      if (number !== undefined) {
        const item = repository.items.get(Number(number))
        if (!item || item.gone) return gone(item, api)
        if (isComments && method === 'POST') return postComment(item)
        return !isComments && method === 'PATCH' ? changeItem(item) : refused(404, 'Not Found')
      }
      const [, id] = /^\/issues\/comments\/(\d+)$/.exec(path) ?? []
      const comment = id === undefined ? undefined : repository.comments.get(BigInt(id))
      if (!comment || repository.items.get(comment.number)?.gone) return refused(404, 'Not Found')
      if (token.isCollaborator === false && comment.author !== loginOf(token)) {
        return refused(403, 'Must have admin rights to Repository.')
      }
      if (method === 'DELETE') {
        repository.comments.delete(comment.id)
        tick()
        report(commentDelivery(comment, { ...about, action: 'deleted' }))
        return { status: 204 }
      }
      if (method !== 'PATCH') return refused(404, 'Not Found')
      const invalid = invalidBody(values.body)
      if (invalid) return invalid
      if (comment.body !== values.body) {
        Object.assign(comment, { body: values.body, updatedAt: tick() })
        report(commentDelivery(comment, { ...about, action: 'edited' }))
      }
      return ok(commentJson(comment, about))

      function postComment(item: HostItem): HostResponse {
        if (item.isLocked && token?.isCollaborator === false) {
          return refused(403, 'Unable to create comment because issue is locked.')
        }
        const invalid = invalidBody(values.body)
        if (invalid) return invalid
        const author = loginOf(token)
        const comment = addComment(repository, { number: item.number, body: values.body, author })
        report(commentDelivery(comment, { ...about, action: 'created' }))
        const location = `${api}/repos/${repository.name}/issues/comments/${comment.id}`
        return { ...ok(commentJson(comment, about), 201), headers: { location } }
      }

      function changeItem(item: HostItem): HostResponse {
        if (token?.isCollaborator === false && item.author !== loginOf(token)) {
          return refused(403, 'Must have admin rights to Repository.')
        }
        const { state = item.state, state_reason: reason, ...others } = values
        if (Object.keys(others).length > 0) throw new Error(`Not supported here: ${Object.keys(others)}.`)
        if (state !== 'open' && state !== 'closed') return invalidField('state')
        if (reason != null && !REASONS[state].includes(reason as string)) return invalidField('state_reason')
        const isPull = item.mergedAt !== undefined
        if (item.mergedAt && state === 'open') return invalidField('state')
        const stateReason = isPull ? null : ((reason as string) ?? REASONS[state][0] ?? null)
        const isSame = state === item.state && (reason == null || stateReason === item.stateReason)
        if (!isSame) {
          const now = tick()
          const closedAt = state === 'open' ? null : (item.closedAt ?? now)
          Object.assign(item, { state, stateReason, closedAt, updatedAt: now })
          const action = state === 'open' ? 'reopened' : 'closed'
          report(itemDelivery(item, { ...about, action }))
        }
        return ok(issueJson(item, about))
      }
    },
  }
}

/** The first is the default. */
const REASONS = { open: ['reopened'], closed: ['completed', 'not_planned', 'duplicate'] }

const SECONDARY_LIMIT =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.'

const loginOf = (token: Writer | undefined) => token?.login ?? 'ada'

function invalidBody(body: unknown): HostResponse | undefined {
  if (typeof body !== 'string' || body.trim() === '') return invalidField('body')
  if ([...body].length > MAX_BODY_LENGTH) {
    return refused(422, `Validation Failed: Body is too long (maximum is ${MAX_BODY_LENGTH} characters)`)
  }
  return undefined
}

const invalidField = (field: string) => refused(422, `Validation Failed: ${field} is invalid`)
