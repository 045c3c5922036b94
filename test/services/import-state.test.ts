import { expect, test } from 'vitest'
import { importState } from '../../src/services/import-state.ts'

test('a read of before the end of an import, answered after it, does not refuse writes', async () => {
  const reads: PromiseWithResolvers<boolean>[] = []
  const state = importState({
    imports: {
      isRunning() {
        const read = Promise.withResolvers<boolean>()
        reads.push(read)
        return read.promise
      },
    },
  })
  state.receive()
  const ended = state.refresh()
  const [older, newer] = reads
  newer?.resolve(false)
  await ended
  older?.resolve(true)
  await older?.promise
  expect(state.requireNone).not.toThrow()
  expect(state.isRunning()).toBe(false)
})
