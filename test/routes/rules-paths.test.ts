import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())
const connect = mcpConnections(() => service)
beforeEach(() => service.query('delete from rules'))

const create = async (content: string, paths?: string[], more: object = {}) =>
  (await service.post('/api/rules', { content, paths, ...more })).body
const contentsOf = (rules: { content: string }[]) => rules.map(({ content }) => content)
const instructions = async (query = '') =>
  contentsOf((await service.get(`/api/context${query}`)).body.instructions)

describe('the paths of a rule', () => {
  test('are kept, each once, and always applies without any', async () => {
    const rule = await create('Types.', ['src/**/*.ts', ' test/** ', 'src/**/*.ts'])
    expect(rule.paths).toEqual(['src/**/*.ts', 'test/**'])
    expect((await service.get(`/api/rules/${rule.id}`)).body.paths).toEqual(rule.paths)
    expect((await create('All.')).paths).toEqual([])
  })

  test('are changed, cleared, and recorded', async () => {
    const { id } = await create('Types.', ['src/**'])
    const change = async (body: object) => (await service.patch(`/api/rules/${id}`, body)).body
    expect(await change({ paths: ['test/**'] })).toMatchObject({ version: 2, paths: ['test/**'] })
    expect(await change({ content: 'Tests.' })).toMatchObject({ version: 3, paths: ['test/**'] })
    expect(await change({ paths: ['test/**', 'test/**'] })).toMatchObject({ version: 3 })
    expect(await change({ paths: [] })).toMatchObject({ version: 4, paths: [] })
    const { body } = await service.get('/api/activity?type=rule.updated')
    const changes = body.data.map(({ metadata }: { metadata: { changes: object } }) => metadata.changes)
    expect(changes).toEqual([
      { paths: { from: ['test/**'], to: [] } },
      { content: 'changed' },
      { paths: { from: ['src/**'], to: ['test/**'] } },
    ])
  })

  test('belong to its versions, and come back with them', async () => {
    const { id } = await create('Types.', ['src/**'])
    await service.patch(`/api/rules/${id}`, { paths: [] })
    const versions = (await service.get(`/api/rules/${id}/versions`)).body.data
    expect(versions.map(({ paths }: { paths: string[] }) => paths)).toEqual([[], ['src/**']])
    const reverted = await service.post(`/api/rules/${id}/revert`, { version: 1 })
    expect(reverted.body).toMatchObject({ version: 3, paths: ['src/**'] })
  })

  test.each<[string, unknown, string, string]>([
    ['a glob that is none', ['src/**', '/src'], '/paths/1', 'invalid_glob'],
    ['an empty glob', [' '], '/paths/0', 'too_short'],
    ['a glob of 201 characters', ['a'.repeat(201)], '/paths/0', 'too_long'],
    ['21 globs', Array.from({ length: 21 }, (_, index) => `${index}`), '/paths', 'too_many'],
    ['a text', 'src/**', '/paths', 'wrong_type'],
    ['null', null, '/paths', 'wrong_type'],
  ])('are refused with %s, and nothing is changed', async (_, paths, path, code) => {
    const rule = await create('Types.', ['src/**'])
    const refusals = [
      await service.post('/api/rules', { content: 'A', paths }),
      await service.patch(`/api/rules/${rule.id}`, { paths }),
    ]
    for (const { status, body } of refusals) {
      expect([status, body.code]).toEqual([400, 'validation_failed'])
      expect(body.errors).toEqual([expect.objectContaining({ path, code })])
    }
    expect((await service.get('/api/rules')).body.data).toEqual([rule])
  })
})

describe('the context', () => {
  beforeEach(async () => {
    await create('Always.', undefined, { priority: 3 })
    await create('Types.', ['src/**/*.ts', '*.json'], { priority: 2 })
    await create('Tests.', ['test/**'], { priority: 1 })
  })

  test.each([
    ['', ['Always.']],
    ['?paths=docs/api.md', ['Always.']],
    ['?paths=src/routes/tasks.ts', ['Always.', 'Types.']],
    ['?paths=docs/api.md&paths=package.json', ['Always.', 'Types.']],
    ['?paths=.%5Ctest%5Ca.ts', ['Always.', 'Tests.']],
    ['?paths=./src/a.ts&paths=/test/a.ts', ['Always.', 'Types.', 'Tests.']],
  ])('has the rules without paths, and those with a match: %s', async (query, expected) => {
    expect(await instructions(query)).toEqual(expected)
  })

  test('names the globs in Markdown', async () => {
    const { body } = await service.get('/api/context?format=markdown&paths=src/a.ts')
    expect(body).toContain('Only for `src/**/*.ts`, `*.json`:\n\nTypes.')
    expect(body).not.toContain('Tests.')
  })

  test('has another ETag if other rules match, and fits into a budget', async () => {
    const etagOf = async (query: string) =>
      (await service.get(`/api/context${query}`)).headers.get('etag') ?? ''
    const tags = await Promise.all(['', '?paths=src/a.ts', '?paths=test/a.ts', '?paths=a.md'].map(etagOf))
    expect(tags[0]).toBe(tags[3])
    expect(new Set(tags).size).toBe(3)
    const { body } = await service.get('/api/context?paths=src/a.ts&budgetTokens=250')
    expect(body.omittedCount).toBeGreaterThan(0)
    expect(body.instructions.length).toBeLessThan(2)
  })

  test.each(['paths=', `paths=${'a'.repeat(501)}`, Array(21).fill('paths=a').join('&')])(
    'is rejected with %s',
    async (query) => {
      const { status, body } = await service.get(`/api/context?${query}`)
      expect([status, body.errors[0].path.split('/')[0]]).toEqual([400, 'query.paths'])
    },
  )

  test('of MCP takes the paths as well, and get_rules has all rules', async () => {
    const client = await connect()
    const about = await callTool(client, 'get_context', { paths: ['test/a.test.ts'] })
    expect(contentsOf(about.data.instructions)).toEqual(['Always.', 'Tests.'])
    const all = await callTool(client, 'get_rules')
    const pathsOf = all.data.data.map(({ paths }: { paths?: string[] }) => paths)
    expect(pathsOf).toEqual([undefined, ['src/**/*.ts', '*.json'], ['test/**']])
    expect(all.text).toContain('Only for `test/**`:\n\nTests.')
    const created = await callTool(client, 'create_rule', { content: 'SQL.', paths: ['**/*.sql'] })
    const changed = await callTool(client, 'update_rule', { id: created.data.id, paths: ['migrations/**'] })
    expect([created.data.paths, changed.data.paths]).toEqual([['**/*.sql'], ['migrations/**']])
    const refused = await callTool(client, 'create_rule', { content: 'SQL.', paths: ['/migrations/**'] })
    expect([refused.isError, refused.text]).toEqual([
      true,
      expect.stringContaining('without / at the beginning'),
    ])
  })
})

describe('the file for AGENTS.md', () => {
  const read = (query = '', options = {}) => service.get(`/api/context?format=agents-md${query}`, options)

  test('has all active rules with their globs, in order, and nothing else', async () => {
    await create('Tests.', ['test/**'], { priority: 1 })
    await create('# Always\n\nSpeak plainly.', undefined, { priority: 2 })
    await create('Off.', undefined, { isActive: false })
    const { status, headers, body } = await read()
    expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(
      body,
    ).toBe(`<!-- Written by Inlet. Change the instructions there: changes of this file are overwritten. -->

# Instructions

Standing instructions from the team, most important first. Follow them for the whole session.

## Instruction 1

# Always

Speak plainly.

## Instruction 2

Only for \`test/**\`:

Tests.
`)
  })

  test('changes with the rules, and with nothing else', async () => {
    const project = await service.given.project()
    const { id } = await create('Types.', ['src/**'])
    const first = await read(`&projectId=${project.id}`)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{27}"$/)
    const again = () => read(`&projectId=${project.id}`, { headers: { 'if-none-match': etag } })
    await service.given.task(project.inbox, { title: 'New' })
    await service.patch(`/api/projects/${project.id}`, { name: 'Renamed' })
    expect(await again()).toMatchObject({ status: 304, body: '' })
    await service.patch(`/api/rules/${id}`, { paths: [] })
    const changed = await again()
    expect([changed.status, changed.body]).toEqual([200, first.body.replace('Only for `src/**`:\n\n', '')])
    await service.delete(`/api/rules/${id}`)
    expect((await again()).body).toContain('There are no active instructions.')
  })

  test('is about a project, or about all', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    for (const { id, name } of [here, there])
      await create(`For ${id}, ${name}.`, undefined, { projectId: id })
    await create('For all.')
    const key = await service.given.key({ projectId: here.id, scopes: ['rules:read'] })
    for (const { body } of [await read(`&projectId=${here.id}`), await read('', { key })]) {
      expect([body.includes(`For ${here.id}`), body.includes('For all.')]).toEqual([true, true])
      expect(body).not.toContain(`For ${there.id}`)
    }
    expect((await read()).body).not.toContain(`For ${here.id}`)
    for (const id of [there.id, UNKNOWN_ID]) {
      const { status, body } = await read(`&projectId=${id}`, { key })
      expect([status, body.code]).toEqual([404, 'project_not_found'])
    }
  })

  test('cannot be cut', async () => {
    for (const query of ['&paths=a', '&budgetTokens=100']) {
      const { status, body } = await read(query)
      expect([status, body.errors]).toMatchObject([
        400,
        [{ path: `query.${query.slice(1).split('=')[0]}`, code: 'not_allowed' }],
      ])
    }
  })
})
