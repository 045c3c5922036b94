import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, describe, expect, test } from 'vitest'
import {
  begun,
  currentWork,
  detached,
  isRecorded,
  traced,
  traceWith,
  type Work,
  workLogged,
} from '../../src/lib/traced.ts'

const work: Work = { name: 'work', kind: 'job' }

afterEach(() => traceWith(undefined))

describe('without traces', () => {
  test('work is done, and what it notes is ignored', async () => {
    const result = await traced(work, async (note) => {
      note({ 'error.type': 'any' })
      return 'result'
    })
    expect(result).toBe('result')
  })

  test('work that is begun can end, also with an error', () => {
    begun(work)()
    begun(work)(new Error('The connection is lost.'))
  })

  test('nothing is known of the current work', () => {
    expect([currentWork(), isRecorded(), workLogged()]).toEqual([undefined, false, {}])
  })
})

test('with traces, they get the work and what it notes', async () => {
  const seen: unknown[] = []
  traceWith({
    current: () => 'current',
    isRecording: () => true,
    logFields: () => ({ trace_id: 'id' }),
    trace(given, run) {
      seen.push(given.name)
      return run((attributes) => seen.push(attributes))
    },
  })
  await traced(work, async (note) => note({ size: 1 }))
  expect(seen).toEqual(['work', { size: 1 }])
  expect([currentWork(), isRecorded(), workLogged()]).toEqual(['current', true, { trace_id: 'id' }])
})

test('detached work has no part in what starts it', () => {
  const storage = new AsyncLocalStorage<string>()
  storage.run('request', () => {
    expect(detached(() => storage.getStore())).toBeUndefined()
  })
})
