import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostApps } from './code-host-apps.ts'
import { type HostItem, type HostRepository, issueJson, repositoryJson, time } from './code-host-items.ts'
import { type HostResponse, issuesPage, moved, ok, refused, searchCount } from './code-host-responses.ts'

/** What a token may do; without one only public repositories are seen. */
export interface HostToken {
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
  status: number
  receivedAt: number
}

/** What a fault sends instead of the valid response. */
export type InvalidResponse = 'reset' | 'hang' | 'cut' | HostResponse

interface Fault {
  times: number
  odd: InvalidResponse
  matches(request: { url: string }): boolean
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
  let limits: { remaining: number; reset: number } | undefined = { remaining: 5_000, reset: 0 }

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
    now: () => now,
    advance: (seconds: number) => tick(seconds),
    /** The next `times` requests that match get this response. */
    fault(odd: InvalidResponse, { times = 1, matches = (_: { url: string }): boolean => true } = {}) {
      faults.push({ times, odd, matches })
    },
    heal: () => faults.splice(0),

    repository(name: string, { id = 1000 + repositories.size, isPrivate = false } = {}) {
      const repository: HostRepository = { id, name, isPrivate, items: new Map() }
      repositories.set(id, repository)
      names.set(name, id)
      return handleOf(repository)
    },

    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  function handleOf(repository: HostRepository) {
    const { items } = repository
    const itemAt = (number: number) => {
      const item = items.get(number)
      if (!item) throw new Error(`There is no ${number}.`)
      return item
    }
    return {
      id: repository.id,
      items,
      get name() {
        return repository.name
      },
      /** A new issue; the clock advances by a second by default. */
      issue(values: Partial<HostItem> = {}, seconds = 1) {
        tick(seconds)
        const number = values.number ?? items.size + 1
        const item: HostItem = {
          number,
          title: `Item ${number}`,
          body: `Body of ${number}`,
          state: 'open',
          stateReason: null,
          labels: [],
          assignees: [],
          author: 'ada',
          isDraft: false,
          createdAt: now,
          updatedAt: now,
          closedAt: values.state === 'closed' ? now : null,
          ...values,
        }
        items.set(number, item)
        return item
      },
      pull(values: Partial<HostItem> = {}) {
        return this.issue({ mergedAt: null, ...values })
      },
      /** So many issues at once, every fifth a pull request. */
      fill(count: number, seconds = 60) {
        for (let i = 0; i < count; i++)
          this.issue((items.size + 1) % 5 === 0 ? { mergedAt: null } : {}, seconds)
      },
      change(number: number, values: Partial<HostItem> = {}, seconds = 1) {
        tick(seconds)
        return Object.assign(itemAt(number), { updatedAt: now, ...values })
      },
      close(number: number, stateReason: string | null = 'completed') {
        return this.change(number, { state: 'closed', stateReason, closedAt: now + 1_000 })
      },
      merge(number: number) {
        return this.change(number, { state: 'closed', mergedAt: time(now + 1_000), closedAt: now + 1_000 })
      },
      reopen(number: number) {
        return this.change(number, { state: 'open', stateReason: 'reopened', closedAt: null })
      },
      /** Gone without a trace in the list, as on the real one. */
      remove(number: number, gone: HostItem['gone'] = 'deleted') {
        if (gone) itemAt(number).gone = gone
      },
      rename(name: string) {
        repository.name = name
        names.set(name, repository.id)
      },
    }
  }

  function tick(seconds: number): number {
    now += seconds * 1_000
    return now
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request
    const fault = faults.find((each) => each.times > 0 && each.matches({ url: path }))
    if (fault) fault.times--
    if (latencyMs > 0) await sleep(latencyMs)
    const seen: HostRequest = { method, url: path, headers, status: 0, receivedAt: Date.now() }
    requests.push(seen)
    if (fault?.odd === 'reset') return void request.socket.destroy()
    if (fault?.odd === 'hang') return
    const reply = fault && typeof fault.odd === 'object' ? fault.odd : responseTo(path, { method, headers })
    seen.status = reply.status
    const body = reply.body ?? ''
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
      ...(reply.status !== 304 && { 'content-length': String(Buffer.byteLength(body)) }),
    })
    if (fault?.odd === 'cut') {
      response.write(body.slice(0, Math.floor(body.length / 2)))
      setTimeout(() => request.socket.destroy(), 20)
      return
    }
    // A 304 is free.
    if (limits && reply.status !== 304) limits.remaining--
    await onResponse(seen)
    response.end(body)
  }

  function responseTo(
    path: string,
    { method, headers }: { method: string; headers: IncomingMessage['headers'] },
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
      return ok(repositoryJson(url, repository))
    }
    if (address.pathname === '/search/issues') {
      const visible = [...repositories.values()].filter((repository) => !isHidden(repository))
      return searchCount(visible, address.searchParams)
    }
    const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(address.pathname) ?? []
    const repository = repositories.get(Number(id))
    if (!repository || isHidden(repository)) return refused(404, 'Not Found')
    if (rest === '') return ok(repositoryJson(url, repository))
    if (token?.singleSignOn) {
      const sso = { 'x-github-sso': `required; url=${url}/orgs/acme/sso?authorization_request=1` }
      return refused(403, 'Resource protected by organization SAML enforcement.', sso)
    }
    if (token?.canReadIssues === false) {
      return refused(403, 'Resource not accessible by personal access token')
    }
    if (rest === '/issues')
      return issuesPage(repository, { api: url, query: address.searchParams, headers, hasLast })
    const item = repository.items.get(Number(/^\/issues\/(\d+)$/.exec(rest)?.[1]))
    if (!item || item.gone === 'unseen') return refused(404, 'Not Found')
    if (item.gone === 'deleted') return refused(410, 'This issue was deleted')
    if (item.gone === 'transferred') return moved(`${url}/repositories/9999/issues/1`)
    return ok(issueJson(item, { api: url, repository }))
  }
}
