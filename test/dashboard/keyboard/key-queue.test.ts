import { afterEach, describe, expect, test, vi } from 'vitest'
import { areKeysHeld, discardKeys, holdKeys, queueKey } from '../../../src/dashboard/keyboard/key-queue.ts'
import { releaseKeys } from '../../../src/dashboard/keyboard/release-keys.ts'

afterEach(() => {
  discardKeys()
  vi.useRealTimers()
})

describe('keys that come while something opens', () => {
  test('wait, and are pressed in their order', async () => {
    holdKeys()
    const names = ['a', 'Backspace', 'Ü', ' ', 'ArrowDown', 'Enter', 'Escape', 'j']
    for (const name of names) expect(queueKey(key(name))).toBe(true)
    expect(await pressedAfterRelease()).toEqual(names)
    expect(areKeysHeld()).toBe(false)
    expect(queueKey(key('j'))).toBe(false)
  })

  test('wait with the key of the palette, and not with those of the browser', () => {
    holdKeys()
    expect(queueKey(key('k', { ctrlKey: true }))).toBe(true)
    expect(queueKey(key('k', { metaKey: true }))).toBe(true)
    for (const other of [key('Tab'), key('r', { metaKey: true }), key('l', { ctrlKey: true })])
      expect(queueKey(other)).toBe(false)
    expect(queueKey(key('ArrowUp', { altKey: true }))).toBe(false)
  })

  test('wait on when one of them opens something else', async () => {
    holdKeys()
    for (const name of ['Enter', 'a', 'x', 'y']) queueKey(key(name))
    expect(await pressedAfterRelease((name) => name === 'a' && holdKeys())).toEqual(['Enter', 'a'])
    queueKey(key('z'))
    expect(await pressedAfterRelease()).toEqual(['x', 'y', 'z'])
  })

  test('are not pressed when they waited too long, nor when what they wait for does not come', async () => {
    vi.useFakeTimers()
    holdKeys(5_000)
    queueKey(key('e'))
    vi.advanceTimersByTime(4_999)
    expect(queueKey(key('e'))).toBe(true)
    vi.advanceTimersByTime(1)
    expect(queueKey(key('j'))).toBe(false)
    expect(await pressedAfterRelease()).toEqual([])

    holdKeys()
    queueKey(key('e'))
    discardKeys()
    expect(await pressedAfterRelease()).toEqual([])
  })
})

const key = (name: string, fields: Partial<KeyboardEvent> = {}) => ({ key: name, ...fields }) as KeyboardEvent

/** Releases them, and returns the names of those that are pressed. */
async function pressedAfterRelease(onPress: (name: string) => unknown = () => {}): Promise<string[]> {
  const pressed: string[] = []
  releaseKeys((event) => {
    // As the page does.
    expect(queueKey(event)).toBe(false)
    pressed.push(event.key)
    onPress(event.key)
  })
  await Promise.resolve()
  return pressed
}
