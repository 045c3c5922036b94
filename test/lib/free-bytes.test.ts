import { expect, test } from 'vitest'
import { freeBytes } from '../../src/lib/free-bytes.ts'

const MIB = 1024 * 1024

test('bytes are freed at once', () => {
  const before = process.memoryUsage().arrayBuffers
  const bytes = Buffer.alloc(64 * MIB, 1)
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(60 * MIB)
  freeBytes(bytes)
  expect(bytes.length).toBe(0)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MIB)
})

test('bytes that share their memory are left alone', () => {
  const whole = Buffer.alloc(64, 'a')
  freeBytes(whole.subarray(0, 32))
  expect(whole.toString()).toBe('a'.repeat(64))
  const pooled = Buffer.from('short')
  freeBytes(pooled)
  expect(pooled.toString()).toBe('short')
})
