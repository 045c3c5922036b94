import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { transfersOn } from '../../src/repositories/index.ts'
import { importService } from '../../src/services/import.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fillEverything } from '../support/exported-data.ts'
import {
  closed,
  type ExportLine,
  exported,
  importInto,
  linesIn,
  withoutHeader,
  withTasks,
} from '../support/exports.ts'

let source: TestApp
let service: TestApp
let text: string
let lines: ExportLine[]
/** Of the instance that the imports are refused by. */
let before: string

beforeAll(async () => {
  source = await startApp()
  await fillEverything(source)
  text = await exported(source)
  lines = linesIn(text)
  service = await startApp()
  before = withoutHeader(await exported(service))
})
afterAll(async () => {
  await source.close()
  await service.close()
})

describe('an invalid file is refused and changes nothing:', () => {
  const BAD: Record<string, [() => string, { path: string | RegExp; message: RegExp }]> = {
    'an empty one': [() => '', { path: 'line.1', message: /is missing/ }],
    'one that is no export': [() => '{"title":"x"}\n', { path: 'line.1', message: /must be the header/ }],
    'one without its end': [
      () => text.split('\n').slice(0, -2).join('\n'),
      { path: /^line\./, message: /ends before its last line/ },
    ],
    'one that ends within a line': [
      () => text.slice(0, text.length / 2),
      { path: /^line\./, message: /must be a JSON object/ },
    ],
    'one with something after its end': [
      () => `${text}{}\n`,
      { path: /^line\./, message: /follows the last line/ },
    ],
    'one with a line less': [
      () => withoutLine('comment'),
      { path: /\.counts\.comment$/, message: /is 1, but the file has 0/ },
    ],
    'one with a changed line': [
      () => text.replace('Be kind.', 'Be cruel.'),
      { path: /\.sha256$/, message: /does not match/ },
    ],
    'one in another order': [
      () => edited((all) => [...all.slice(0, 1), ...all.slice(1, -1).reverse(), ...all.slice(-1)]),
      { path: /\.kind$/, message: /must come before lines of kind/ },
    ],
    'one of a later format': [
      () => edited(([header, ...all]) => [{ ...header, format: 2, version: '9.0.0' }, ...all]),
      { path: 'line.1.format', message: /exported by Inlet 9\.0\.0: upgrade this instance first/ },
    ],
    'one with a kind of a later version': [
      () => edited((all) => [...all.slice(0, -1), { kind: 'goal', id: '1' }, ...all.slice(-1)]),
      { path: /\.kind$/, message: /is not a known kind of line.*upgrade/ },
    ],
    'one with a field of a later version': [
      () => change('rule', { mood: 'good' }),
      { path: /^line\.\d+\.mood$/, message: /upgrade/ },
    ],
    'one with a value of another type': [
      () => change('task', { title: 5 }),
      { path: /\.title$/, message: /^must be text .*, not 5$/ },
    ],
    'one with a null': [
      () => change('task', { title: null }),
      { path: /\.title$/, message: /must not be null/ },
    ],
    'one without a required field': [
      () => change('task', { title: undefined }),
      { path: /\.title$/, message: /is required/ },
    ],
    'one with an unknown status': [
      () => change('task', { status: 'later' }),
      { path: /\.status$/, message: /^must be one of open, in_progress, done, not "later"$/ },
    ],
    'one with an invalid date': [
      () => change('task', { createdAt: '2026-02-31T00:00:00Z' }),
      { path: /\.createdAt$/, message: /ISO 8601/ },
    ],
    'one with a NUL character': [
      () => change('task', { title: 'a\0b' }),
      { path: /\.title$/, message: /NUL/ },
    ],
    'one with a NUL character in JSON': [
      () => change('task', { metadata: { a: '\0' } }),
      { path: /^line\.\d+\.metadata$/, message: /NUL/ },
    ],
    'one with a number out of range': [
      () => change('task', { codehostRepositoryId: 1e30 }),
      { path: /^line\.\d+$/, message: /does not accept/ },
    ],
    'one with a task that is done and not completed': [
      () => change('task', { status: 'done', completedAt: null }),
      { path: /^line\.\d+$/, message: /does not accept \(tasks_completed_when_done\)/ },
    ],
    'one with an ID twice': [
      () => edited((all) => all.flatMap((line) => (line.kind === 'comment' ? [line, line] : [line]))),
      {
        path: /^line\.\d+$/,
        message: /an earlier line \(comments_pkey\)/,
      },
    ],
    'one with an unknown list': [
      () => change('task', { listId: '00000000-0000-7000-8000-000000000000' }),
      { path: /^line\.\d+$/, message: /no earlier line has \(tasks_list_in_project\)/ },
    ],
    'one without a default project': [
      () => changeAll('project', { isDefault: false }),
      { path: /^line\./, message: /one project that is the default/ },
    ],
    'one with a project without a default list': [
      () => changeAll('list', { isDefault: false }),
      { path: /^line\./, message: /a default list for each project/ },
    ],
  }

  test.each(Object.entries(BAD))('%s', async (_, [make, { path, message }]) => {
    const refused = await importInto(service, make())
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed'])
    expect(refused.body.errors).toContainEqual({
      path: typeof path === 'string' ? path : expect.stringMatching(path),
      code: expect.any(String),
      message: expect.stringMatching(message),
    })
    expect(withoutHeader(await exported(service))).toBe(before)
    expect((await service.post('/api/rules', { content: 'x' })).status).toBe(201)
    await service.query('delete from rules')
    await service.query('delete from activity')
  })

  test('each of several errors, with its line', async () => {
    const bad = edited((all) => all.map((line) => (line.kind === 'task' ? { ...line, priority: 1 } : line)))
    const refused = await importInto(service, bad)
    const expected = lines.flatMap(({ kind }, index) =>
      kind === 'task' ? [`line.${index + 1}.priority`] : [],
    )
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(expected)
  })

  test('one bad line of many, named', async () => {
    const refused = await importInto(service, tasksOfWhichOneIsBad(777))
    expect(refused.body.errors).toEqual([
      {
        path: `line.${4 + 777}`,
        code: 'not_allowed',
        message: expect.stringContaining('tasks_completed_when_done'),
      },
    ])
  })

  test('the last line before the end, named beside the SHA-256 that its edit made wrong', async () => {
    const edited = tasksOfWhichOneIsBad(999).replace(/"sha256":"\w+"/, `"sha256":"${'0'.repeat(64)}"`)
    const refused = await importInto(service, edited)
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      `line.${4 + 999}`,
      `line.${4 + 1_000}.sha256`,
    ])
  })

  test('one with a line that is too long', async () => {
    const refused = await importInto(service, change('task', { notes: 'x'.repeat(4 * 1024 * 1024) }))
    expect(refused.body.errors).toContainEqual({
      path: expect.stringMatching(/^line\.\d+$/),
      code: 'too_long',
      message: 'must have at most 4194304 bytes',
    })
  })

  test('another content type, and none', async () => {
    for (const type of ['application/json', 'text/plain', 'application/octet-stream', 'no type']) {
      const refused = await service.post('/api/import', text, { headers: { 'content-type': type } })
      const detail = expect.stringMatching(/use application\/x-ndjson\.$/)
      expect([type, refused.status, refused.body.detail]).toEqual([type, 415, detail])
    }
    const { status, body } = await service.post('/api/import')
    expect([status, body.detail]).toEqual([415, 'Content-Type is missing; use application/x-ndjson.'])
  })

  test('one that stalls', async () => {
    const db = openDatabase({ connectionString: service.connectionString, size: 1, onError: () => {} })
    const { run } = importService({
      ...transfersOn(db),
      importing: { refresh: async () => {} },
      stallMs: 200,
    })
    const file = new Readable({ read() {} })
    file.push(text.slice(0, 1000))
    await expect(run({} as never, file)).rejects.toMatchObject({ code: 'request_timeout' })
    await db.$client.end()
    expect(withoutHeader(await exported(service))).toBe(before)
  })
})

/** Lines 4 to 1,003 are tasks. The bad one is open, and has been completed. */
function tasksOfWhichOneIsBad(bad: number): string {
  const project = lines.find(({ kind, isDefault }) => kind === 'project' && isDefault)
  const list = lines.find(({ kind, projectId }) => kind === 'list' && projectId === project?.id)
  const task = { ...lines.find(({ kind }) => kind === 'task'), projectId: project?.id, listId: list?.id }
  const [header] = lines
  const some = closed([header, project, list, task] as ExportLine[])
  return withTasks(some, 1_000, (nth) => ({ codehostNumber: null, ...(nth === bad && { status: 'open' }) }))
}

const withoutLine = (kind: string) =>
  text
    .split('\n')
    .filter((line) => !line.startsWith(`{"kind":"${kind}"`))
    .join('\n')

/** A whole export with other lines: counts and SHA-256 are right. */
function edited(edit: (lines: ExportLine[]) => ExportLine[]): string {
  return closed(edit(lines).filter(({ kind }) => kind !== 'end'))
}

const changeAll = (kind: string, members: object) =>
  edited((all) => all.map((line) => (line.kind === kind ? { ...line, ...members } : line)))

/** The last line of the kind. */
const change = (kind: string, members: object) =>
  edited((all) => {
    const last = all.findLastIndex((line) => line.kind === kind)
    return all.map((line, index) => (index === last ? { ...line, ...members } : line))
  })
