import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeApiTypes } from '../tools/api-types.ts'
import type { Program } from '../tools/typescript.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A program that uses the client, by its name. The first is right, the second wrong in each line. */
const PROGRAMS = {
  'right.ts': `const { data: created } = await api.POST('/api/tasks', { body: { title: 'A task', priority: 'high' } })
export const priority: 'low' | 'medium' | 'high' | undefined = created?.priority
const { data: page } = await api.GET('/api/tasks', { params: { query: { status: ['open', 'done'] } } })
export const ids: string[] = page?.data.map(({ id }) => id) ?? []
const { data: rules } = await api.GET('/api/rules')
export const first: components['schemas']['Rule'] | undefined = rules?.data[0]
export const { error } = await api.POST('/api/tasks/bulk', { body: { listId: 'x', tasks: [{ title: 'One' }] } })
export const code: string | undefined = error?.code
const { data: changes } = await api.GET('/api/changes', { params: { query: { include: 'task', wait: 30 } } })
export const task: Task | null | undefined = changes?.data[0]?.task`,
  'wrong.ts': `await api.POST('/api/tasks', { body: { title: 'A task', priority: 'urgent' } })
await api.POST('/api/tasks', { body: { priority: 'high' } })
await api.POST('/api/tasks', { body: { title: 'A task', source: 'codehost' } })`,
}

let folder: string
let ts: typeof import('../tools/typescript.ts').default
let compiled: Program
beforeAll(async () => {
  // Inside the repository, so that what the client imports is found; git leaves it alone.
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  folder = await mkdtemp(join(ROOT, 'dist', 'client-'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeApiTypes(join(folder, 'api.ts'))
  ;({ default: ts } = await import('../tools/typescript.ts'))
  for (const [name, program] of Object.entries(PROGRAMS)) {
    await writeFile(join(folder, name), `${CLIENT}\n${program}\n`)
  }
  compiled = ts.createProgram(
    Object.keys(PROGRAMS).map((name) => join(folder, name)),
    {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.NodeNext,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: [],
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    },
  )
}, 300_000)
afterAll(() => rm(folder, { recursive: true }))

/** The lines of the guide. */
const [, CREATION] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/api.md'), 'utf8')) ?? []
const CLIENT = `${CREATION}
import type { components } from './api.ts'
export type Task = components['schemas']['Task']`

/** What a strict compiler says of one of the files. */
function errorsIn(name: string): string[] {
  return ts
    .getPreEmitDiagnostics(compiled, compiled.getSourceFile(join(folder, name)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('a client generated from the API reference', { timeout: 120_000 }, () => {
  test('compiles', () => {
    expect(errorsIn('api.ts')).toEqual([])
    expect(errorsIn('right.ts')).toEqual([])
  })

  test('rejects what the service would reject', () => {
    expect(errorsIn('wrong.ts')).toEqual([
      expect.stringMatching(/"urgent"' is not assignable/),
      expect.stringMatching(/'title' is missing/),
      expect.stringMatching(/"codehost"' is not assignable/),
    ])
  })
})
