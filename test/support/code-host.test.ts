import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemOf } from '../../src/domain/codehost/item.ts'
import { type CodeHostFake, startCodeHost } from './code-host.ts'
import { commentDelivery } from './code-host-comments.ts'
import { itemDelivery, recordedDeliveries } from './code-host-deliveries.ts'
import { written } from './code-host-items.ts'

/** The fake is only worth something if it is like the real one. */
interface Recorded {
  method: string
  path: string
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: recorded from the real API.
  response: any
}

/** Recorded from the real one; see `recorded/README.md`. */
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`recorded/${name}.json`, import.meta.url), 'utf8'))

const recorded = (scenario: string): Recorded[] => read(scenario)

let host: CodeHostFake
beforeAll(async () => {
  host = await startCodeHost({
    tokens: {
      writer: { login: 'inlet' },
      reader: { canWriteIssues: false },
      guest: { login: 'guest', isCollaborator: false },
    },
  })
})
afterAll(() => host.close())

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(host.url + path, { redirect: 'manual', headers })

// biome-ignore lint/suspicious/noExplicitAny: whatever the host sends.
const json = async (path: string): Promise<any> => (await ask(path)).json()

async function write(method: string, path: string, body?: object, token = 'writer') {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = { method, headers, redirect: 'manual' as const, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(host.url + path, sent)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Where a list differs from the published description of its response. */
function errorsIn(list: unknown, schema: 'issues' | 'comments') {
  const check = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(
    withoutNullable(read(`${schema}.schema`)) as object,
  )
  return check(list) ? [] : check.errors
}

/** The members, with their types, that none of the recorded ones has. */
function unlike(sent: object, recorded: object[]): string[] {
  const typed = (json: object) =>
    Object.entries(JSON.parse(written(json))).map(
      ([name, value]) =>
        `${name}: ${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`,
    )
  const known = new Set(recorded.flatMap(typed))
  return typed(sent).filter((member) => !known.has(member))
}

/** The names in a Link header with the shape of their addresses. */
const shapeOf = (link: string | null) =>
  [...(link ?? '').matchAll(/<https?:\/\/[^/]+([^>]*)>; rel="(\w+)"/g)].map(
    ([, path, rel]) => `${rel} ${path?.replace(/\d+/g, 'N')}`,
  )

/** OpenAPI 3.0's `nullable` in words a validator of JSON Schema knows. */
function withoutNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, withoutNullable(value)]),
  )
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest
}

describe('the fake code host', () => {
  test('pages like the recorded one, link by link', async () => {
    const pages = recorded('paginate-issues')
    const repository = host.repository('octokit-fixture-org/paginate-issues')
    for (let i = 0; i < 13; i++) repository.issue()
    expect(pages.length).toBe(5)
    for (const [index, page] of pages.entries()) {
      const response = await ask(`/repositories/${repository.id}/issues?per_page=3&page=${index + 1}`)
      expect(response.status).toBe(page.status)
      expect(shapeOf(response.headers.get('link'))).toEqual(shapeOf(page.headers.link ?? null))
      expect(await response.json()).toHaveLength(page.response.length)
      expect(response.headers.get('etag')).toBeTruthy()
    }
  })

  test('sends every member of the recorded items that any code reads', async () => {
    const [page] = recorded('paginate-issues').filter(({ path }) => /issues\?/.test(path))
    const [item] = page?.response ?? []
    const repository = host.repository('acme/members')
    repository.issue()
    const [own] = (await (await ask(`/repositories/${repository.id}/issues`)).json()) as object[]
    const notHere = Object.keys(item).filter((name) => !(name in (own ?? {})))
    expect(notHere).toEqual(
      ['closed_at', 'reactions', 'performed_via_github_app'].filter((name) => notHere.includes(name)),
    )
    expect(itemOf(item)).toMatchObject({ number: 13, kind: 'issue', state: 'open', title: 'Test issue 13' })
  })

  test('responds for a renamed repository like the recorded one', async () => {
    const [moved] = recorded('rename-repository')
    const repository = host.repository('octokit-fixture-org/rename-repository')
    repository.rename('octokit-fixture-org/new-name')
    const response = await ask('/repos/octokit-fixture-org/rename-repository')
    expect(response.status).toBe(moved?.status)
    expect(new URL(response.headers.get('location') ?? '').pathname).toBe(`/repositories/${repository.id}`)
    expect(Object.keys((await response.json()) as object)).toEqual(Object.keys(moved?.response))
    const followed = (await (await ask(`/repositories/${repository.id}`)).json()) as object
    expect(followed).toMatchObject({ full_name: 'octokit-fixture-org/new-name', id: repository.id })
  })

  test('sends issues and pull requests that match the published description of the API', async () => {
    const repository = host.repository('acme/described')
    repository.issue({ labels: ['bug'], assignees: ['ada'] })
    repository.issue({ body: null, odd: { user: null } })
    repository.issue({ state: 'closed', stateReason: 'not_planned' })
    repository.pull()
    repository.merge(4)
    const items = await (await ask(`/repositories/${repository.id}/issues?state=all`)).json()
    expect(errorsIn(items, 'issues')).toEqual([])
    expect(items).toHaveLength(4)
  })

  test('sends and takes comments that match the published description of the API', async () => {
    const repository = host.repository('acme/commented')
    repository.issue()
    repository.pull()
    repository.comment(1, { author: null })
    repository.comment(2)
    const path = `/repositories/${repository.id}/issues`
    const posted = await write('POST', `${path}/1/comments`, { body: 'Posted' })
    expect([posted.status, posted.headers.get('location')]).toEqual([201, posted.body.url])
    const all = await json(`${path}/comments?sort=updated&direction=desc`)
    expect(all.map(({ body }: { body: string }) => body)).toEqual(['Posted', 'A comment', 'A comment'])
    expect(errorsIn(all, 'comments')).toEqual([])
    expect(errorsIn([posted.body], 'comments')).toEqual([])
    expect(all[1].html_url).toMatch(/\/pull\/2#issuecomment-90\d{14}$/)
    expect(await json(`${path}/1/comments`)).toHaveLength(2)
    expect(await json(`${path}/comments?since=${posted.body.created_at}`)).toHaveLength(1)
    expect((await json(`${path}/1`)).comments).toBe(2)

    const id = [...repository.comments.keys()].at(-1)
    const edited = await write('PATCH', `${path}/comments/${id}`, { body: 'Edited' })
    expect([edited.status, edited.body.body]).toEqual([200, 'Edited'])
    expect(errorsIn([edited.body], 'comments')).toEqual([])
    expect(await json(`${path}/comments/${id}`)).toEqual(edited.body)
    expect((await write('DELETE', `${path}/comments/${id}`)).status).toBe(204)
    expect((await write('PATCH', `${path}/comments/${id}`, { body: 'x' })).status).toBe(404)
    expect((await write('POST', `${path}/1/comments`, { body: ' ' })).status).toBe(422)
    expect((await write('POST', `${path}/1/comments`, { body: 'x'.repeat(65_537) })).status).toBe(422)
    repository.remove(2)
    expect(await json(`${path}/comments`)).toHaveLength(1)
    expect((await ask(`${path}/comments/${[...repository.comments.keys()][1]}`)).status).toBe(404)
  })

  test('reports issues and pull requests like the recorded deliveries', () => {
    const repository = host.repository('acme/reported-items')
    const values = { labels: ['bug'], assignees: ['ada'] }
    const items = { issues: repository.issue(values), pull_request: repository.pull(values) }
    const about = { api: host.url, repository: repository.about }
    for (const [event, item] of Object.entries(items)) {
      const recorded = recordedDeliveries().filter((delivery) => delivery.event === event)
      expect(recorded.length).toBeGreaterThan(20)
      const actions = recorded.map(({ payload }) => (payload as { action: string }).action)
      for (const action of new Set(actions)) {
        const own = itemDelivery(item, { ...about, action })
        expect(own.event).toBe(event)
        const member = event === 'issues' ? 'issue' : event
        const itemIn = (payload: object) => (payload as Record<string, object>)[member] ?? {}
        for (const part of [(payload: object) => payload, itemIn]) {
          const others = recorded.map(({ payload }) => part(payload))
          // The recordings are older than the reason of a state, which the description of the API has.
          const isNewer = (name: string) => name === 'state_reason: null'
          expect(unlike(part(own.payload), others).filter((name) => !isNewer(name))).toEqual([])
        }
      }
    }
  })

  test('reports comments like the recorded deliveries', () => {
    const repository = host.repository('acme/reported-comments')
    repository.issue()
    const comment = repository.comment(1)
    for (const { event, payload } of recordedDeliveries()) {
      const { action } = payload as { action: 'created' | 'edited' | 'deleted' }
      if (event !== 'issue_comment') continue
      const own = commentDelivery(comment, { api: host.url, repository: repository.about, action })
      const { comment: recorded } = payload as { comment: object }
      const { comment: sent } = own.payload as { comment: object }
      expect(own.event).toBe(event)
      expect(Object.keys(own.payload)).toEqual(expect.arrayContaining(['action', 'issue', 'comment']))
      expect(Object.keys(recorded).filter((name) => !(name in sent) && name !== 'reactions')).toEqual([])
    }
  })

  test('takes changes of the state, and says who may not make them', async () => {
    const repository = host.repository('acme/written')
    for (let i = 0; i < 4; i++) repository.issue()
    repository.pull()
    repository.remove(2, 'deleted')
    repository.remove(3, 'transferred')
    const path = `/repositories/${repository.id}/issues`
    const reports: unknown[] = []
    host.onChange(({ delivery, writer }) => reports.push([delivery.event, delivery.payload, writer.login]))

    const closed = await write('PATCH', `${path}/1`, { state: 'closed', state_reason: 'not_planned' })
    expect(closed.status).toBe(200)
    expect(closed.body).toMatchObject({ state: 'closed', state_reason: 'not_planned', comments: 0 })
    expect(errorsIn([closed.body], 'issues')).toEqual([])
    expect(reports).toEqual([['issues', expect.objectContaining({ action: 'closed' }), 'inlet']])
    const { updated_at } = closed.body
    const again = await write('PATCH', `${path}/1`, { state: 'closed', state_reason: 'not_planned' })
    expect([again.body.updated_at, reports.length]).toEqual([updated_at, 1])
    const reopened = await write('PATCH', `${path}/1`, { state: 'open' })
    expect(reopened.body).toMatchObject({ state: 'open', closed_at: null })
    expect((await write('PATCH', `${path}/1`, { state: 'done' })).status).toBe(422)

    const close = async (number: number, token = 'writer') =>
      (await write('PATCH', `${path}/${number}`, { state: 'closed' }, token)).status
    expect([await close(2), await close(3), await close(9)]).toEqual([410, 301, 404])
    expect([await close(1, 'reader'), await close(1, 'guest'), await close(1, 'unknown')]).toEqual([
      403, 403, 401,
    ])
    const comment = async (number: number, token = 'writer') =>
      (await write('POST', `${path}/${number}/comments`, { body: 'x' }, token)).status
    repository.change(4, { isLocked: true })
    expect((await json(`${path}/4`)).locked).toBe(true)
    expect([await comment(1, 'guest'), await comment(4, 'guest'), await comment(4)]).toEqual([201, 403, 201])
    expect(await comment(2)).toBe(410)
    const [id] = repository.comments.keys()
    const remove = async (comment: unknown) =>
      (await write('DELETE', `${path}/comments/${comment}`, undefined, 'guest')).status
    expect([await remove(repository.comment(1).id), await remove(id)]).toEqual([403, 204])
    const permissions = async (token: string) => {
      const response = await ask(`/repositories/${repository.id}`, { authorization: `token ${token}` })
      return ((await response.json()) as { permissions: { push: boolean } }).permissions.push
    }
    expect([await permissions('writer'), await permissions('guest')]).toEqual([true, false])
    repository.archive()
    expect(await close(1)).toBe(403)
  })

  test('limits writes, and loses responses of writes that had their effect', async () => {
    const repository = host.repository('acme/limited-writes')
    repository.issue()
    const path = `/repositories/${repository.id}/issues/1/comments`
    host.limitWrites(1, { retryAfter: '30' })
    expect((await write('POST', path, { body: '1' })).status).toBe(201)
    const refused = await write('POST', path, { body: '2' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([403, '30'])
    expect(refused.body.message).toMatch(/secondary rate limit/)
    expect((await ask(path)).status).toBe(200)
    host.limitWrites(Number.POSITIVE_INFINITY)
    host.fault('lost', { matches: ({ method }) => method === 'POST' })
    await expect(write('POST', path, { body: '3' })).rejects.toThrow()
    expect([...repository.comments.values()].map(({ body }) => body)).toEqual(['1', '3'])
    expect(host.requests.at(-1)).toMatchObject({ method: 'POST', body: { body: '3' }, status: 201 })
  })

  test('supports since, conditional requests, large numbers, and the page limit', async () => {
    const repository = host.repository('acme/behaves')
    repository.fill(3)
    const list = `/repositories/${repository.id}/issues?state=all`
    const count = async (path: string) => ((await (await ask(path)).json()) as []).length
    expect(await count(`${list}&since=1970-01-01T00:00:00Z`)).toBe(0)
    const since = new Date(host.now()).toISOString().slice(0, 19)
    expect(await count(`${list}&since=${since}Z`)).toBe(1)
    const first = await ask(list)
    const etag = first.headers.get('etag') ?? ''
    expect(await first.text()).toMatch(/"id":90\d{14}/)
    expect((await ask(list, { 'if-none-match': etag })).status).toBe(304)
    repository.change(1)
    expect((await ask(list, { 'if-none-match': etag })).status).toBe(200)
    expect((await ask(`${list}&page=101`)).status).toBe(422)
    repository.remove(1, 'deleted')
    repository.remove(2, 'transferred')
    expect(await count(list)).toBe(1)
    const statuses = await Promise.all(
      [1, 2, 9].map(async (number) => (await ask(`/repositories/${repository.id}/issues/${number}`)).status),
    )
    expect(statuses).toEqual([410, 301, 404])
  })
})
