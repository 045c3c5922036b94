import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostApps } from './code-host-apps.ts'
import { commentJson, FIRST_COMMENT_ID, type HostComment } from './code-host-comments.ts'
import { type HostRepository, issueJson, repositoryJson } from './code-host-items.ts'
import { type HostClock, type NewComment, repositoryHandle } from './code-host-repository.ts'
import {
  commentsPage,
  gone,
  type HostResponse,
  issuesPage,
  moved,
  ok,
  refused,
  searchCount,
} from './code-host-responses.ts'
import { type HostChange, hostWrites, type Writer } from './code-host-writes.ts'

/** What a token may do; without one only public repositories are seen. */
export interface HostToken extends Writer {
  /** The private repositories that it sees; all by default. */
  repositories?: string[]
  canReadIssues?: boolean
  singleSignOn?: boolean
}

export interface HostRequest {
  method: string
  /** With query, as it came. */
  url: string
  headers: IncomingMessage['headers']
  /** The JSON that was sent; undefined without a body. */
  body: unknown
  status: number
  receivedAt: number
}

/** What a fault sends instead of the valid response. A write that is `cut` or `lost` has its effect. */
export type InvalidResponse = 'reset' | 'hang' | 'cut' | 'lost' | HostResponse

interface Fault {
  times: number
  odd: InvalidResponse
  matches(request: { method: string; url: string }): boolean
}

export type CodeHostFake = Awaited<ReturnType<typeof startCodeHost>>

/**
 * A code host as its documentation and `facts.md` describe it, over HTTP on a port of its own. It has a clock of its
 * own, in whole seconds, that advances with every change.
 */
export async function startCodeHost({
  latencyMs = 0,
  tokens = {} as Record<string, HostToken>,
  port = 0,
} = {}) {
  const repositories = new Map<number, HostRepository>()
  /** What a name points at; a renamed repository leaves its old one behind. */
  const names = new Map<string, number>()
  const requests: HostRequest[] = []
  const faults: Fault[] = []
  const known = new Map(Object.entries(tokens))
  const apps = hostApps()
  let now = Date.parse('2026-01-01T00:00:00Z')
  let onResponse: (request: HostRequest) => unknown = () => {}
  let hasLast = true
  let onChange: (change: HostChange) => unknown = () => {}
  let secondsPerWrite = 1
  let nextCommentId = FIRST_COMMENT_ID
  let limits: { remaining: number; reset: number } | undefined = { remaining: 5_000, reset: 0 }

  const clock: HostClock = {
    now: () => now,
    advance(seconds) {
      now += seconds * 1_000
      return now
    },
  }
  /** A comment is a change of its issue or pull request, too. */
  const addComment = (
    { items, comments }: HostRepository,
    { seconds, ...values }: NewComment,
  ): HostComment => {
    clock.advance(seconds)
    const comment = { ...values, id: nextCommentId++, createdAt: now, updatedAt: now }
    comments.set(comment.id, comment)
    const item = items.get(values.number)
    if (item) item.updatedAt = now
    return comment
  }
  const writes = hostWrites({
    tick: () => clock.advance(secondsPerWrite),
    addComment: (repository, values) => addComment(repository, { ...values, seconds: secondsPerWrite }),
    onChange: (change) => onChange(change),
  })

  // Longer than any test thinks between two requests: a connection that is reused while it closes is an error of its own.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    requests,
    tokens: known,
    /** A new GitHub App with an installation. */
    app: apps.create,
    /** Delays each response. */
    set latencyMs(ms: number) {
      latencyMs = ms
    },
    /** An enterprise host sends no rate limit headers. */
    hideLimits: () => {
      limits = undefined
    },
    /** Links to no last page: only a search tells how many items there are. */
    hideLastPage: () => {
      hasLast = false
    },
    /** Called and awaited between building a response and sending it: the response lacks what changes now. */
    onResponse(listener: (request: HostRequest) => unknown) {
      onResponse = listener
    },
    /** Called with each change by a write, in the state after it. */
    onChange(listener: (change: HostChange) => unknown) {
      onChange = listener
    },
    /** Refuses each write after so many, until it is called again. */
    limitWrites: writes.limit,
    /** How far the clock advances with each write; 0: the change is in the same second as the one before. */
    set secondsPerWrite(seconds: number) {
      secondsPerWrite = seconds
    },
    now: clock.now,
    advance: clock.advance,
    /** The next `times` requests that match get this response. */
    fault(odd: InvalidResponse, { times = 1, matches = ((_) => true) as Fault['matches'] } = {}) {
      faults.push({ times, odd, matches })
    },
    heal: () => faults.splice(0),

    repository(name: string, { id = 1000 + repositories.size, isPrivate = false } = {}) {
      const repository: HostRepository = { id, name, isPrivate, items: new Map(), comments: new Map() }
      repositories.set(id, repository)
      names.set(name, id)
      return repositoryHandle(repository, {
        clock,
        addComment,
        rename(repository, name) {
          repository.name = name
          names.set(name, repository.id)
        },
      })
    },

    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request
    const body = await bodyOf(request)
    const fault = faults.find((each) => each.times > 0 && each.matches({ method, url: path }))
    if (fault) fault.times--
    if (latencyMs > 0) await sleep(latencyMs)
    const seen: HostRequest = { method, url: path, headers, body, status: 0, receivedAt: Date.now() }
    requests.push(seen)
    if (fault?.odd === 'reset') return void request.socket.destroy()
    if (fault?.odd === 'hang') return
    const reply = fault && typeof fault.odd === 'object' ? fault.odd : responseTo(path, seen)
    seen.status = reply.status
    if (fault?.odd === 'lost') return void request.socket.destroy()
    const text = reply.body ?? ''
    response.writeHead(reply.status, {
      'content-type': 'application/json; charset=utf-8',
      'x-github-media-type': 'github.v3; format=json',
      'x-github-api-version-selected': String(headers['x-github-api-version'] ?? 'none'),
      ...(limits && {
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': String(limits.remaining),
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
      }),
      ...reply.headers,
      ...(reply.status !== 304 && { 'content-length': String(Buffer.byteLength(text)) }),
    })
    if (fault?.odd === 'cut') {
      response.write(text.slice(0, Math.floor(text.length / 2)))
      setTimeout(() => request.socket.destroy(), 20)
      return
    }
    // A 304 is free.
    if (limits && reply.status !== 304) limits.remaining--
    await onResponse(seen)
    response.end(text)
  }

  function responseTo(
    path: string,
    { method, headers, body }: Pick<HostRequest, 'method' | 'headers' | 'body'>,
  ): HostResponse {
    const installation = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)?.[1]
    if (method === 'POST' && installation) return apps.newToken(Number(installation), headers.authorization)
    const [, credential] = /^(?:token|bearer) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const token = credential === undefined ? undefined : (known.get(credential) ?? apps.token(credential))
    if (token === 'suspended') return refused(403, 'This installation has been suspended')
    const isHidden = ({ isPrivate, name }: HostRepository) =>
      isPrivate && !(token && (token.repositories?.includes(name) ?? true))
    if (credential !== undefined && !token) return refused(401, 'Bad credentials')
    const address = new URL(path, url)
    const named = /^\/repos\/([^/]+\/[^/]+)$/.exec(address.pathname)
    if (named) {
      const repository = repositories.get(names.get(decodeURIComponent(named[1] ?? '')) ?? 0)
      if (!repository || isHidden(repository)) return refused(404, 'Not Found')
      if (repository.name !== named[1]) return moved(`${url}/repositories/${repository.id}`)
      return ok({ ...repositoryJson(url, repository), ...permissionsOf(token) })
    }
    if (address.pathname === '/search/issues') {
      const visible = [...repositories.values()].filter((repository) => !isHidden(repository))
      return searchCount(visible, address.searchParams)
    }
    const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(address.pathname) ?? []
    const repository = repositories.get(Number(id))
    if (!repository || isHidden(repository)) return refused(404, 'Not Found')
    if (rest === '') return ok({ ...repositoryJson(url, repository), ...permissionsOf(token) })
    if (token?.singleSignOn) {
      const sso = { 'x-github-sso': `required; url=${url}/orgs/acme/sso?authorization_request=1` }
      return refused(403, 'Resource protected by organization SAML enforcement.', sso)
    }
    if (token?.canReadIssues === false) {
      return refused(403, 'Resource not accessible by personal access token')
    }
    if (method !== 'GET') return writes.respond(repository, { api: url, method, path: rest, body, token })
    const about = { api: url, repository }
    const list = { api: url, path: address.pathname, query: address.searchParams, headers, hasLast }
    if (rest === '/issues') return issuesPage(repository, list)
    if (rest === '/issues/comments') return commentsPage(repository, list)
    const commentId = /^\/issues\/comments\/(\d+)$/.exec(rest)?.[1]
    if (commentId !== undefined) {
      const comment = repository.comments.get(BigInt(commentId))
      const isGone = !comment || repository.items.get(comment.number)?.gone
      return isGone ? refused(404, 'Not Found') : ok(commentJson(comment, about))
    }
    const [, number, isComments] = /^\/issues\/(\d+)(\/comments)?$/.exec(rest) ?? []
    const item = repository.items.get(Number(number))
    if (!item || item.gone) return gone(item, url)
    if (isComments) return commentsPage(repository, { ...list, number: item.number })
    return ok(issueJson(item, about))
  }
}

/** Of who asks; a token of theirs may have fewer. */
function permissionsOf(token: Writer | undefined): object {
  const mayWrite = token?.isCollaborator !== false && !token?.isApp
  const pull = !token?.isApp
  const permissions = { admin: false, maintain: false, push: mayWrite, triage: mayWrite, pull }
  return token ? { permissions } : {}
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}
