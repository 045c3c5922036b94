import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SINGLE_KEYS } from '../../../src/dashboard/keyboard/single-keys.ts'

beforeEach(() => {
  vi.stubGlobal('sessionStorage', storage())
  vi.stubGlobal('localStorage', storage())
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** The page when it is loaded. */
async function load() {
  vi.resetModules()
  return (await import('../../../src/dashboard/session/identity.ts')).identify
}

describe('another key', () => {
  test('finds nothing of the one before in storage, but the settings of the browser', async () => {
    ;(await load())('first')
    sessionStorage.setItem('inlet-draft:new-title', 'secret')
    localStorage.setItem('inlet-filters', '[]')
    localStorage.setItem('mantine-color-scheme-value', 'dark')
    localStorage.setItem(SINGLE_KEYS, 'off')
    ;(await load())('second')
    expect(Object.keys(sessionStorage)).toEqual(['inlet-identity'])
    expect(Object.keys(localStorage).sort()).toEqual([
      'inlet-identity',
      SINGLE_KEYS,
      'mantine-color-scheme-value',
    ])
  })

  test('is told on a page that has data of the one before', async () => {
    const identify = await load()
    expect([identify('first'), identify('first'), identify('second')]).toEqual([false, false, true])
  })

  test('is told where nothing can be stored', async () => {
    vi.stubGlobal('sessionStorage', undefined)
    const identify = await load()
    expect([identify('first'), identify('second')]).toEqual([false, true])
  })
})

test('the same key finds its drafts after a reload', async () => {
  ;(await load())('first')
  sessionStorage.setItem('inlet-draft:new-title', 'kept')
  expect((await load())('first')).toBe(false)
  expect(sessionStorage.getItem('inlet-draft:new-title')).toBe('kept')
})

/** As a browser's, whose keys are properties. */
const storage = () =>
  Object.defineProperties({} as Record<string, string>, {
    getItem: {
      value(this: Record<string, string>, key: string) {
        return this[key] ?? null
      },
    },
    setItem: {
      value(this: Record<string, string>, key: string, text: string) {
        this[key] = text
      },
    },
    removeItem: {
      value(this: Record<string, string>, key: string) {
        delete this[key]
      },
    },
  })
