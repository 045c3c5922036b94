import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/domain/context-budget.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

async function givenProject() {
  const project = await service.given.project({ name: 'Mobile app' })
  const key = await service.given.key({ projectId: project.id, scopes: ['rules:read', 'tasks:read'] })
  const rule = async (content: string, priority: number, isActive = true) =>
    (await service.post('/api/rules', { content, priority, isActive, projectId: project.id })).body
  return { ...project, key, rule }
}

describe('the context', () => {
  test('has the rules in order, the reach of the key, its lists, and the latest tasks', async () => {
    const project = await givenProject()
    const [low, high] = [await project.rule('Low', -1), await project.rule('High', 10)]
    await project.rule('Off', 99, false)
    const other = await service.given.list(project.id, { name: 'Next' })
    for (let n = 0; n < 12; n++)
      await service.given.task(n % 2 ? other : project.inbox, { title: `Task ${n}` })
    await service.given.task(other, { title: 'Going', status: 'in_progress' })
    await service.given.task(other, { title: 'Done', status: 'done', completedAt: new Date() })
    await service.given.task(other, { title: 'Hidden', deletedAt: new Date(), updatedAt: new Date(9e12) })

    const { body } = await service.get('/api/context', { key: project.key })

    expect(body).toEqual({
      instructions: [
        expect.objectContaining({ id: high.id, content: 'High' }),
        expect.objectContaining({ id: low.id, content: 'Low' }),
      ],
      project: { id: project.id, name: 'Mobile app', archivedAt: null },
      lists: [
        expect.objectContaining({ id: project.inbox.id, name: 'Inbox', isDefault: true, openCount: 6 }),
        expect.objectContaining({ id: other.id, name: 'Next', isDefault: false, openCount: 7 }),
      ],
      tasks: { open: 12, inProgress: 1, recent: expect.any(Array) },
      notice: expect.stringContaining('untrusted'),
      serverTime: expect.stringMatching(/Z$/),
      omitted: [],
      omittedCount: 0,
    })
    expect(body.tasks.recent).toHaveLength(10)
    expect(body.tasks.recent[0].title).toBe('Done')
    for (const task of body.tasks.recent) {
      expect(Object.keys(task)).not.toEqual(expect.arrayContaining(['metadata']))
      expect(task).not.toHaveProperty('description')
    }
  })

  test('is for one project when it is named, otherwise for all', async () => {
    const [here, there] = [await givenProject(), await givenProject()]
    const rule = await here.rule('Here', 1)
    await service.given.task(there.inbox)

    const named = (await service.get(`/api/context?projectId=${here.id}`)).body
    const whole = (await service.get('/api/context')).body

    expect(named.instructions.map(({ id }: { id: string }) => id)).toContain(rule.id)
    expect(named.tasks).toMatchObject({ open: 0, inProgress: 0, recent: [] })
    expect(whole.project).toBeNull()
    expect(whole.instructions.map(({ id }: { id: string }) => id)).not.toContain(rule.id)
    expect(whole.lists.map(({ projectId }: { projectId: string }) => projectId)).toEqual(
      expect.arrayContaining([here.id, there.id]),
    )
    expect(whole.lists[0]).toMatchObject({ projectName: 'Inbox', name: 'Inbox' })
  })

  test('of another project does not exist for a bound key', async () => {
    const [mine, theirs] = [await givenProject(), await givenProject()]

    for (const id of [theirs.id, UNKNOWN_ID]) {
      expect(await service.get(`/api/context?projectId=${id}`, { key: mine.key })).toMatchObject({
        status: 404,
        body: { code: 'project_not_found' },
      })
    }
  })

  test('omits the tasks without tasks:read, and reports it', async () => {
    const key = await service.given.key({ scopes: ['rules:read'] })
    await service.given.task((await service.given.project()).inbox, { title: 'Not for you' })

    const { body } = await service.get('/api/context', { key })
    const markdown = (await service.get('/api/context?format=markdown', { key })).body

    expect(body).not.toHaveProperty('tasks')
    expect(body.lists).toEqual([])
    expect(body.omitted).toEqual([{ kind: 'tasks', id: null, priority: null, reason: 'scope' }])
    expect(markdown).toContain('tasks:read')
    expect(markdown).not.toContain('Not for you')
  })

  test.each(['budgetTokens=0', 'budgetTokens=1.5', 'budgetTokens=x', 'format=xml', 'projectId=x', 'nope=1'])(
    'is rejected with %s',
    async (query) => {
      const refused = await service.get(`/api/context?${query}`)

      expect(refused.status).toBe(400)
      expect(refused.body.errors).toMatchObject([{ path: `query.${query.split('=')[0]}` }])
    },
  )

  test('is available as Markdown, rules first', async () => {
    const project = await givenProject()
    await project.rule('Speak plainly.', 1)
    await service.given.task(project.inbox, { title: 'A crash' })

    const response = await service.get('/api/context?format=markdown', { key: project.key })

    expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(response.body).toMatch(/^# Instructions\n/)
    expect(response.body.indexOf('Speak plainly.')).toBeLessThan(response.body.indexOf('A crash'))
  })
})

describe('a budget', () => {
  test('limits JSON and text alike, and includes what fits after a rule that is too long', async () => {
    const project = await givenProject()
    const long = await project.rule('word '.repeat(1_500), 9)
    const short = await project.rule('Speak plainly.', 1)
    for (let n = 0; n < 40; n++) await project.rule(`Rule ${n}. ${'word '.repeat(20)}`, -n)

    const { body } = await service.get('/api/context?budgetTokens=1500', { key: project.key })
    const text = (await service.get('/api/context?budgetTokens=1500&format=markdown', { key: project.key }))
      .body

    expect(estimateTokens(JSON.stringify(body))).toBeLessThanOrEqual(1_500)
    expect(estimateTokens(text)).toBeLessThanOrEqual(1_500)
    const ids = body.instructions.map(({ id }: { id: string }) => id)
    expect(ids[0]).toBe(short.id)
    expect(ids).not.toContain(long.id)
    expect(body.omitted[0]).toEqual({ kind: 'instruction', id: long.id, priority: 9, reason: 'budget' })
    expect(body.omittedCount).toBeGreaterThan(body.omitted.length)
    expect(text).toContain(`- rule ${long.id}, priority 9`)
    expect(text).toContain(`- ${body.omittedCount - body.omitted.length} more`)
  })

  test('counts four bytes of UTF-8 as a token', () => {
    expect([estimateTokens(''), estimateTokens('12345'), estimateTokens('日本')]).toEqual([0, 2, 2])
  })
})

describe('with If-None-Match', () => {
  test.each(['', '&format=markdown'])('is 304 until something but the time changes%s', async (format) => {
    const project = await service.given.project()
    const path = `/api/context?projectId=${project.id}${format}`
    const first = await service.get(path)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    const ask = (tag: string, url = path) => service.get(url, { headers: { 'if-none-match': tag } })

    const again = await ask(etag)
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag])
    expect((await ask(`"other", ${etag.slice(2)}`)).status).toBe(304)
    expect((await ask(etag, `${path}&budgetTokens=600`)).headers.get('etag')).not.toBeNull()

    await service.given.task({ id: project.inbox.id, projectId: project.id })
    const changed = await ask(etag)
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(etag)
  })

  test('has an ETag for each format', async () => {
    const tags = [await service.get('/api/context'), await service.get('/api/context?format=markdown')]
    expect(new Set(tags.map(({ headers }) => headers.get('etag'))).size).toBe(2)
  })
})
