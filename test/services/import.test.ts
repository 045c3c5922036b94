import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { importService } from '../../src/services/import.ts'

type Imports = Parameters<typeof importService>[0]['imports']

test('the transaction of an import stays open while lines arrive slowly', async () => {
  const statements: string[] = []
  const target = {
    listContents: async () => [],
    clear: async () => {},
    insert: async () => undefined,
    addReferring: async () => {},
    findBadReferences: async () => [],
    listDependencies: async () => [],
    keepAlive: async () => void statements.push('keep alive'),
    complete: async () => ({ defaults: 1, withoutList: 0, withoutProject: 0 }),
  }
  const imports: Imports = {
    kinds: [],
    isRunning: async () => false,
    run: (work) => work(target),
  }
  const { run } = importService({ imports, importing: { refresh: async () => {} }, keepAliveMs: 0 })
  // One line, in pieces.
  const file = Readable.from(['{"kind"', ':"', 'other"}'].map((piece) => Buffer.from(piece)))

  await expect(run({} as never, file)).rejects.toThrow()

  expect(statements).toHaveLength(3)
})
