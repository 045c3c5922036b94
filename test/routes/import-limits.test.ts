import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { columnsOf } from '../../src/repositories/export/columns.ts'
import { EXPORTED_TABLES } from '../../src/repositories/export/tables.ts'
import { importLines } from '../../src/schemas/import-lines.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fillEverything } from '../support/exported-data.ts'
import { closed, type ExportLine, exported, importInto, linesIn, withoutHeader } from '../support/exports.ts'

let service: TestApp
let lines: ExportLine[]
/** Of the instance that refuses the imports. */
let before: string

beforeAll(async () => {
  const source = await startApp()
  await fillEverything(source)
  lines = linesIn(await exported(source))
  await source.close()
  service = await startApp()
  before = withoutHeader(await exported(service))
})
afterAll(() => service.close())

const OTHER = '019aa3d2-6f4e-7cc0-a1b2-00000000ffff'
const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
const SCRIPT = 'javascript:alert(1)'

describe('an import checks what the API checks:', () => {
  const BAD: [kind: string, member: string, value: unknown, path?: string][] = [
    ['project', 'name', 'x'.repeat(101)],
    ['project', 'name', '   '],
    ['list', 'name', ''],
    ['list', 'position', 2_147_483_647],
    ['listDeletion', 'actorName', 'x'.repeat(101)],
    ['projectDeletion', 'actorName', ''],
    ['task', 'title', 'x'.repeat(501)],
    ['task', 'title', 'x'.repeat(2_000_000)],
    ['task', 'title', ' '],
    ['task', 'description', 'x'.repeat(65_537)],
    ['task', 'notes', 'x'.repeat(65_537)],
    ['task', 'externalId', 'x'.repeat(256)],
    ['task', 'externalUrl', SCRIPT],
    ['task', 'authorUrl', SCRIPT],
    ['task', 'authorName', 'x'.repeat(101)],
    ['task', 'labels', Array.from({ length: 50_000 }, (_, index) => `label ${index}`)],
    ['task', 'labels', ['a', 'x'.repeat(101)], 'labels.1'],
    ['task', 'assignees', [''], 'assignees.0'],
    ['task', 'metadata', deep(11)],
    ['task', 'metadata', { a: 'x'.repeat(16_384) }],
    ['task', 'metadata', { a: '\0' }],
    ['task', 'metadata', []],
    ['task', 'version', 2_147_483_647],
    ['task', 'version', 0],
    ['task', 'claimNumber', 2_147_483_647],
    ['task', 'claimNumber', -1],
    ['task', 'claimedByName', 'Nobody'],
    ['task', 'claimExpiresAt', '2026-11-22T20:29:52.007Z'],
    ['task', 'codehostNumber', 0],
    ['task', 'noteKey', 'x'.repeat(3_000)],
    ['task', 'blockedBy', Array.from({ length: 21 }, () => OTHER)],
    ['comment', 'authorUrl', SCRIPT],
    ['comment', 'externalUrl', SCRIPT],
    ['comment', 'authorName', 'x'.repeat(101)],
    ['comment', 'body', 'x'.repeat(262_145)],
    ['rule', 'content', 'x'.repeat(8_001)],
    ['rule', 'version', 2_147_483_647],
    ['rule', 'paths', Array.from({ length: 21 }, () => '*')],
    ['ruleVersion', 'content', ''],
    ['routingRule', 'name', ''],
    ['routingRule', 'position', 2_147_483_647],
    ['activity', 'type', 'No type'],
    ['activity', 'message', 'x'.repeat(4_001)],
    ['activity', 'metadata', 'text'],
    ['purgedItem', 'codehostNumber', -1],
    ['source', 'header', 'no header'],
    ['source', 'each', 'alerts'],
    ['source', 'filter', '{% if'],
    ['source', 'template', { title: '{{' }, 'template.title'],
    ['source', 'template', {}, 'template.title'],
    ['source', 'template', null, 'template'],
    ['source', 'mapping', 'feedback', 'each'],
    ['source', 'clears', ['title'], 'clears.0'],
    ['source', 'template', { title: 'x', script: 'y' }, 'template.script'],
    ['connection', 'repository', '../..'],
    ['connection', 'apiUrl', SCRIPT],
    ['connection', 'position', 'text'],
    ['webhook', 'url', SCRIPT],
    ['webhook', 'types', ['Not a type'], 'types.0'],
    ['label', 'color', 'red'],
  ]

  test.each(BAD)('%s.%s, case %#', async (kind, member, value, path = member) => {
    const { file, line } = withLast(kind, { [member]: value })
    const refused = await importInto(service, file)
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed'])
    expect(refused.body.errors.map((error: { path: string }) => error.path)).toContain(`line.${line}.${path}`)
    expect(withoutHeader(await exported(service))).toBe(before)
  })

  test('how a line fits others', async () => {
    const errorsOf = async (...edits: object[]) => {
      const { status, body } = await importInto(service, tasksWith(edits))
      return status === 200 ? 'imported' : body.errors.map(({ path }: { path: string }) => path)
    }
    const done = { status: 'done', completedAt: '2026-11-22T20:29:52.007Z' }
    const [a, b, c] = [0, 1, 2].map(nthId)
    expect(await errorsOf({ ...done, mergedInto: a })).toEqual(['line.4.mergedInto'])
    expect(await errorsOf({ ...done, mergedInto: OTHER })).toEqual(['line.4.mergedInto'])
    expect(await errorsOf({ mergedInto: b }, {})).toEqual(['line.4.status'])
    expect(await errorsOf({ ...done, mergedInto: b }, { ...done, mergedInto: c }, {})).toEqual([
      'line.4.mergedInto',
    ])
    expect(await errorsOf({}, { blockedBy: [OTHER, nthId(1).toUpperCase()] })).toEqual(['line.5.blockedBy.1'])
    expect(
      await errorsOf({ blockedBy: [b] }, { blockedBy: [c, OTHER] }, { blockedBy: [a] }, { blockedBy: [a] }),
    ).toEqual(['line.4.blockedBy'])
  })

  test('the number of rules and webhooks', async () => {
    const many = (kind: string, count: number) => {
      const row = lines.find((line) => line.kind === kind)
      const rows = Array.from({ length: count }, (_, index) => ({
        ...row,
        id: nthId(index),
        ...('deletedAt' in (row ?? {}) && { deletedAt: null }),
        projectId: null,
      }))
      return closed([...base(), ...rows])
    }
    expect((await importInto(service, many('rule', 1_001))).body.errors).toEqual([
      expect.objectContaining({ path: 'line.1004', code: 'too_many' }),
    ])
    expect((await importInto(service, many('webhook', 21))).body.errors).toEqual([
      expect.objectContaining({ path: 'line.24', code: 'too_many' }),
    ])
  })
})

test('each text, list, number, and JSON of a line has a limit', () => {
  const unlimited = EXPORTED_TABLES.flatMap((exported) =>
    columnsOf(exported)
      .filter(({ type, values }) => !values && ['text', 'texts', 'uuids', 'integer', 'json'].includes(type))
      .filter(({ member }) => !Object.hasOwn(importLines[exported.kind]?.properties ?? {}, member))
      .map(({ member }) => `${exported.kind}.${member}`),
  )
  expect(unlimited).toEqual(IDS_OF_THE_HOST)
})

/** They are as large as the database can store, and nothing counts with them. */
const IDS_OF_THE_HOST = [
  'task.codehostRepositoryId',
  'comment.externalId',
  'purgedItem.codehostRepositoryId',
  'connection.repositoryId',
]

/** The header, and the project and list that an instance needs. */
function base(): ExportLine[] {
  const project = lines.find(({ kind, isDefault }) => kind === 'project' && isDefault)
  const list = lines.find(({ kind, projectId }) => kind === 'list' && projectId === project?.id)
  return [lines[0], project, list] as ExportLine[]
}

/** A file with a task for each of these, in lines 4 and after. */
function tasksWith(edits: object[]): string {
  const [header, project, list] = base()
  const template = lines.findLast(({ kind }) => kind === 'task')
  const plain = {
    projectId: project?.id,
    listId: list?.id,
    status: 'open',
    completedAt: null,
    mergedInto: null,
  }
  const tasks = edits.map((edit, index) => ({ ...template, ...plain, id: nthId(index), ...edit }))
  return closed([header, project, list, ...tasks] as ExportLine[])
}

const nthId = (nth: number) => `019aa3d2-6f4e-7cc0-b000-${String(nth).padStart(12, '0')}`

/** A whole export, in which the last line of the kind has other members. */
function withLast(kind: string, members: object) {
  const last = lines.findLastIndex((line) => line.kind === kind)
  const edited = lines.map((line, index) => (index === last ? { ...line, ...members } : line))
  return { file: closed(edited.filter((line) => line.kind !== 'end')), line: last + 1 }
}
