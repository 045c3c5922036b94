import { expect, test, vi } from 'vitest'
import type { PipeAttempts } from '../../../src/repositories/pipes/index.ts'
import { FEEDBACK_PIPE } from '../../../src/services/recorder.ts'
import { attemptBuffer } from '../../../src/services/status/attempts.ts'

const FAILURE = { code: 'unavailable', message: 'The database is unavailable.' }
const STRANGER = { code: 'invalid_credentials', message: 'The signature does not match.' }
const ID = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

function buffering() {
  const buffer = attemptBuffer()
  const stored: PipeAttempts[] = []
  return {
    ...buffer.recorder,
    refuse: () => buffer.storeWith(() => Promise.reject(new Error('It is away.'))),
    store: async () => {
      stored.length = 0
      await buffer.storeWith(async (attempts) => void stored.push(...attempts))
      return stored
    },
  }
}

test('attempts of a pipe are stored together, once', async () => {
  const { succeeded, failed, store } = buffering()
  succeeded(FEEDBACK_PIPE)
  failed(FEEDBACK_PIPE, FAILURE)
  failed({ kind: 'source', id: ID }, FAILURE)
  expect(await store()).toMatchObject([
    { kind: 'feedback', id: 'feedback', succeeded: 1, failed: 1, code: 'unavailable' },
    { kind: 'source', id: ID, succeeded: 0, failed: 1, lastSuccessMs: null },
  ])
  expect(await store()).toEqual([])
})

test('what cannot be stored is stored later, with what happened meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { succeeded, failed, store, refuse } = buffering()
  succeeded(FEEDBACK_PIPE)
  vi.advanceTimersByTime(1_000)
  failed(FEEDBACK_PIPE, FAILURE)
  await expect(refuse()).rejects.toThrow('It is away.')
  vi.advanceTimersByTime(1_000)
  failed(FEEDBACK_PIPE, FAILURE)
  failed({ kind: 'source', id: ID }, FAILURE)
  await expect(refuse()).rejects.toThrow('It is away.')
  const [feedback, ...others] = await store()
  expect(feedback).toMatchObject({ succeeded: 1, failed: 2, firstMs: 2_000, lastMs: 0 })
  expect(feedback).toMatchObject({ lastSuccessMs: 2_000, lastErrorMs: 0, failingMs: 1_000 })
  expect(others).toMatchObject([{ kind: 'source', failed: 1 }])
  vi.useRealTimers()
})

test('a pipe that has recovered meanwhile does not fail any more', async () => {
  const { succeeded, failed, store, refuse } = buffering()
  failed(FEEDBACK_PIPE, FAILURE)
  await expect(refuse()).rejects.toThrow()
  succeeded(FEEDBACK_PIPE)
  expect(await store()).toMatchObject([{ succeeded: 1, failed: 1, failingMs: null }])
})

test('whoever is limited has made no attempt', async () => {
  const { failed, store } = buffering()
  failed(FEEDBACK_PIPE, { code: 'rate_limited', message: 'Too many requests.' })
  expect(await store()).toEqual([])
})

test('names that are no IDs, and too many names of strangers, take no memory, and hide none that exist', async () => {
  const { succeeded, failed, store } = buffering()
  for (const id of ['x', '\0', '', `${ID} `]) failed({ kind: 'source', id }, FAILURE)
  expect(await store()).toEqual([])
  for (let count = 0; count < 20_000; count++) {
    failed({ kind: 'source', id: `019aa3d2-6f4e-7cc0-a1b2-${String(count).padStart(12, '0')}` }, STRANGER)
  }
  succeeded({ kind: 'source', id: ID })
  failed({ kind: 'webhook', id: ID }, FAILURE)
  failed({ kind: 'source', id: ID }, STRANGER)
  const stored = await store()
  expect(stored).toHaveLength(10_002)
  expect(stored.slice(-2)).toMatchObject([
    { kind: 'source', id: ID, succeeded: 1, failed: 1 },
    { kind: 'webhook', id: ID, failed: 1 },
  ])
})

test('messages are shortened, and can be stored', async () => {
  const { failed, store } = buffering()
  failed(FEEDBACK_PIPE, { code: 'x', message: `\0\ud800${'é'.repeat(5_000)}` })
  const [{ detail } = { detail: null }] = await store()
  expect(detail).toMatch(/^\ufffdé+$/)
  expect(Buffer.byteLength(detail ?? '')).toBeLessThanOrEqual(2_000)
})
