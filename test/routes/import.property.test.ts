import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { closed, type ExportLine, exported, importInto, linesIn, withoutHeader } from '../support/exports.ts'

let service: TestApp
let base: ExportLine[]

beforeAll(async () => {
  service = await startApp()
  const { body: task } = await service.post('/api/tasks', { title: 'A task' })
  await service.post(`/api/tasks/${task.id}/comments`, { body: 'A comment.' })
  await service.post('/api/rules', { content: 'Be kind.' })
  base = linesIn(await exported(service)).filter(({ kind }) => !['activity', 'end'].includes(kind))
  await empty()
})
afterAll(() => service.close())

test('whatever an import accepts can be changed afterwards, and exported again', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(CHANGES, async (changes) => {
      await empty()
      const lines = base.map((line) => ({ ...line, ...membersOf(line, changes) }))
      const { status, body } = await importInto(service, closed(lines as ExportLine[]))
      if (status === 400) {
        for (const { path } of body.errors) expect(path).toMatch(/^line\.\d+(\.|$)/)
        return
      }
      expect([status, body], body.detail).toEqual([200, expect.anything()])
      accepted++
      await changeEverything()
      const text = await exported(service)
      await empty()
      const again = await importInto(service, text)
      expect([again.status, again.body]).toEqual([200, expect.anything()])
      expect(withoutHeader(await exported(service))).toBe(withoutHeader(text))
    }),
    { numRuns: 24, seed: 7 },
  )
  expect(accepted).toBeGreaterThan(4)
})

/** Of the kind that a member such as `task.title` names. */
const membersOf = ({ kind }: ExportLine, changes: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(changes)
      .filter(([name]) => name.startsWith(`${kind}.`))
      .map(([name, value]) => [name.slice(name.indexOf('.') + 1), value]),
  )

async function changeEverything() {
  const [task, comment, rule, project, list] = ['task', 'comment', 'rule', 'project', 'list'].map((kind) =>
    base.find((line) => line.kind === kind),
  )
  const changes: [path: string, change: object][] = [
    [`/api/tasks/${task?.id}`, { title: 'Changed', notes: 'Changed.', priority: 'high' }],
    [
      `/api/tasks/${task?.id}`,
      { status: 'in_progress', labels: ['changed'], assignees: [], metadata: { a: 1 } },
    ],
    [`/api/tasks/${task?.id}`, { status: 'done', externalUrl: null }],
    [`/api/comments/${comment?.id}`, { body: 'Changed.' }],
    [`/api/rules/${rule?.id}`, { content: 'Be kinder.' }],
    [`/api/projects/${project?.id}`, { name: 'Changed' }],
    [`/api/lists/${list?.id}`, { name: 'Changed', position: 0 }],
  ]
  // The instance gets the notice that the import has ended a little later than its caller gets the response.
  const isOver = async () => (await service.patch(`/api/lists/${list?.id}`, {})).status !== 503
  await expect.poll(isOver).toBe(true)
  for (const [path, change] of changes) {
    const { status, body } = await service.patch(path, change)
    // What is merged, deleted or archived says so; nothing may fail inside.
    expect([path, status, body], path).toEqual([path, expect.toBeOneOf([200, 404, 409]), expect.anything()])
  }
  expect((await service.post(`/api/tasks/${task?.id}/claim`, {})).status).toBeOneOf([200, 404, 409])
}

async function empty() {
  for (const table of ['activity', 'tasks', 'rules', 'webhook_routing'])
    await service.query(`delete from ${table}`)
}

const COUNTER = fc.constantFrom<unknown>(0, 1, 1_000_000_000, 2_147_483_646, 2_147_483_647)
const TEXT = fc.oneof(
  fc.constantFrom(null, '', ' ', 'x'.repeat(101), 'x'.repeat(501), 'x'.repeat(70_000), 'é'.repeat(140_000)),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const URL = fc.oneof(
  fc.webUrl(),
  fc.constantFrom('javascript:alert(1)', `https://${'x'.repeat(2_048)}`, null),
)
const NAMES = fc.oneof(
  fc.array(fc.string({ unit: 'binary', maxLength: 10 }), { maxLength: 21 }),
  fc.constantFrom(['a', 'A'], ['İstanbul', 'istanbul'], ['']),
)
const TIME = fc.constantFrom(
  null,
  '2026-11-22T20:29:52.007Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
)
const IDS = fc.constantFrom('019aa3d2-6f4e-7cc0-b000-000000000000')
const JSON_VALUE = fc.oneof(fc.jsonValue(), fc.constant({ a: 'x'.repeat(20_000) }))

const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  ...{
    'task.version': COUNTER,
    'task.claimNumber': COUNTER,
    'rule.version': COUNTER,
    'list.position': COUNTER,
  },
  ...{ 'task.title': TEXT, 'task.description': TEXT, 'task.notes': TEXT, 'task.externalId': TEXT },
  ...{ 'task.noteKey': TEXT, 'task.authorName': TEXT, 'task.claimedByName': TEXT, 'comment.body': TEXT },
  ...{ 'comment.authorName': TEXT, 'rule.content': TEXT, 'project.name': TEXT, 'list.name': TEXT },
  ...{ 'task.externalUrl': URL, 'task.authorUrl': URL, 'comment.authorUrl': URL, 'comment.externalUrl': URL },
  ...{ 'task.labels': NAMES, 'task.assignees': NAMES, 'rule.paths': NAMES, 'task.metadata': JSON_VALUE },
  ...{ 'task.blockedBy': fc.array(IDS, { maxLength: 21 }), 'task.mergedInto': IDS },
  ...{
    'task.claimExpiresAt': TIME,
    'task.deletedAt': TIME,
    'task.createdAt': TIME,
    'task.completedAt': TIME,
  },
  'task.status': fc.constantFrom('open', 'in_progress', 'done'),
  'task.source': fc.constantFrom('api', 'codehost', 'analytics', 'webhook', 'assistant'),
  'task.claimedByType': fc.constantFrom('key', 'assistant'),
  'task.codehostNumber': COUNTER,
  'comment.externalId': fc.constantFrom(7, '7', null),
}

const CHANGES = fc
  .uniqueArray(fc.constantFrom(...Object.keys(VALUES)), { minLength: 1, maxLength: 2 })
  .chain((names) =>
    fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), VALUES[name] as fc.Arbitrary<unknown>))),
  )
  .map((changes) => Object.fromEntries(changes))
