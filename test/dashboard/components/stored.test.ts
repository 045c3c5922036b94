import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const error = vi.fn()
let isFull = false

beforeEach(() => {
  vi.resetModules()
  vi.doMock('../../../src/dashboard/components/toast.ts', () => ({ toast: { error } }))
  const stored = new Map<string, string>()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    removeItem: (key: string) => stored.delete(key),
    setItem(key: string, text: string) {
      if (isFull) throw new Error('QuotaExceededError')
      stored.set(key, text)
    },
  })
})
afterEach(() => {
  isFull = false
  error.mockClear()
  vi.doUnmock('../../../src/dashboard/components/toast.ts')
  vi.unstubAllGlobals()
})

test('what a full storage does not take is kept by the page, which says so once', async () => {
  const { readStored, writeStored } = await import('../../../src/dashboard/components/stored.ts')
  writeStored('draft', 'before')
  isFull = true
  writeStored('draft', 'typed')
  writeStored('draft', 'typed on')
  expect(readStored('draft')).toBe('typed on')
  expect(error).toHaveBeenCalledTimes(1)
  expect(error.mock.calls[0]?.join(' ')).toContain('storage is full')
  isFull = false
  writeStored('draft', 'stored again')
  expect([readStored('draft'), sessionStorage.getItem('draft')]).toEqual(['stored again', 'stored again'])
  writeStored('draft', undefined)
  expect(readStored('draft')).toBeUndefined()
})
