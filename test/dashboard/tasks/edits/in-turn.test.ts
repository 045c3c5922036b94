import { expect, test } from 'vitest'
import { inTurn } from '../../../../src/dashboard/tasks/edits/in-turn.ts'

test('changes of one task are sent in their order, those of others meanwhile', async () => {
  const sent: string[] = []
  const { promise: late, resolve: respond } = Promise.withResolvers<void>()
  const first = inTurn(['a', 'b'], async () => {
    sent.push('done')
    await late
  })
  const second = inTurn(['b'], async () => void sent.push('open'))
  await inTurn(['c'], async () => void sent.push('other'))
  expect(sent).toEqual(['done', 'other'])
  respond()
  await Promise.all([first, second])
  expect(sent).toEqual(['done', 'other', 'open'])
})

test('a change follows one that failed', async () => {
  const failed = inTurn(['a'], () => Promise.reject(new Error('away')))
  const next = inTurn(['a'], async () => 'saved')
  await expect(failed).rejects.toThrow('away')
  expect(await next).toBe('saved')
})
