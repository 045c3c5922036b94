import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemOf } from '../../src/domain/codehost/item.ts'
import { type CodeHostFake, startCodeHost } from './code-host.ts'

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
  host = await startCodeHost()
})
afterAll(() => host.close())

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(host.url + path, { redirect: 'manual', headers })

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
    const check = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(
      withoutNullable(read('issues.schema')) as object,
    )
    const repository = host.repository('acme/described')
    repository.issue({ labels: ['bug'], assignees: ['ada'] })
    repository.issue({ body: null, odd: { user: null } })
    repository.issue({ state: 'closed', stateReason: 'not_planned' })
    repository.pull()
    repository.merge(4)
    const items = await (await ask(`/repositories/${repository.id}/issues?state=all`)).json()
    expect(check(items) ? [] : check.errors).toEqual([])
    expect(items).toHaveLength(4)
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
