import { expect, test } from 'vitest'
import { conflict, isUnavailable, listNotFound, projectNotFound } from '../../src/errors/index.ts'
import { retryDecision } from '../../src/services/retry-decision.ts'

/** Work that fails with these errors, one after the other, and then succeeds. */
const failing = (...errors: Error[]) => {
  const left = [...errors]
  return async () => {
    const error = left.shift()
    if (error) throw error
    return 'done'
  }
}
const ID = '0198c0de-0000-7000-8000-000000000000'

test('a decision whose input changed is made again', async () => {
  const work = failing(conflict(), listNotFound(ID), projectNotFound(ID), conflict())
  expect(await retryDecision(work)).toBe('done')
})

test('after five attempts it is refused for the moment, whatever changed', async () => {
  for (const error of [conflict(), listNotFound('User Feedback')]) {
    const refused = retryDecision(failing(error, error, error, error, error))
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Other requests keep changing what this one depends on. Send it again.',
      extras: { retryAfterSeconds: 1 },
    })
    // Of a batch, each is tried alone.
    expect(await refused.catch(isUnavailable)).toBe(false)
  }
})

test('other errors are not retried', async () => {
  const work = failing(new Error('broken'))
  await expect(retryDecision(work)).rejects.toThrow('broken')
})
