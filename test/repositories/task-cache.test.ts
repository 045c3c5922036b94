import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { type TaskCache, taskCache } from '../../src/repositories/task-cache.ts'

/** Cast: of a pool, only its events are used. */
const pool = new EventEmitter() as pg.Pool
let cache: TaskCache
beforeEach(() => {
  cache = taskCache(pool)
})

const taskOf = (bytes: number) => ({ json: Buffer.alloc(bytes), bytes })

describe('the cache of tasks', () => {
  test('is bounded, and keeps what was used last', () => {
    cache.set('old', taskOf(1_000))
    cache.set('used', taskOf(1_000))
    let kept = 0
    for (let n = 0; n < 50_000; n++) {
      cache.set(`${n}`, taskOf(1_000))
      cache.get('used')
    }
    for (let n = 0; n < 50_000; n++) kept += cache.get(`${n}`) ? 1_000 : 0

    expect(kept).toBeLessThan(32 * 1024 * 1024)
    expect(kept).toBeGreaterThan(16 * 1024 * 1024)
    expect(cache.get('old')).toBeUndefined()
    expect(cache.get('used')).toBeDefined()
  })

  test('does not give all of its room to a few large tasks', () => {
    cache.set('large', taskOf(65 * 1024))

    expect(cache.get('large')).toBeUndefined()
  })

  test('is empty after a connection broke: the server may use the same numbers for other rows', () => {
    const client = new EventEmitter()
    pool.emit('connect', client)
    cache.set('a', taskOf(10))

    client.emit('error', new Error('terminated'))

    expect(cache.get('a')).toBeUndefined()
  })

  test('is rarely asked for pages whose tasks it does not have, until it has them', () => {
    const asked = () => Array.from({ length: 160 }, () => cache.isWorthwhile('deep')).filter(Boolean).length
    const note = (found: number) => cache.noteFound('deep', { found, expected: 50 })
    expect(asked()).toBe(160)
    note(0)
    note(0)
    expect(asked(), 'after a cold start').toBe(160)
    for (let n = 0; n < 8; n++) note(5)
    expect(asked()).toBe(10)
    note(25)
    expect(asked()).toBe(10)
    expect(cache.isWorthwhile('first')).toBe(true)
    note(50)
    expect(asked()).toBe(160)
  })
})
