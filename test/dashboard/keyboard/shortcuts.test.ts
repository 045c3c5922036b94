import { afterEach, describe, expect, test, vi } from 'vitest'
import { discardKeys, holdKeys } from '../../../src/dashboard/keyboard/key-queue.ts'
import { isCommandKey, isShortcut } from '../../../src/dashboard/keyboard/shortcuts.ts'

afterEach(() => {
  discardKeys()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('a key without modifiers', () => {
  test('is a shortcut outside of inputs', () => {
    givenPage()
    expect(isShortcut(key('c'))).toBe(true)
    expect(isShortcut(key('c', { target: null }))).toBe(true)
  })

  test.each(['metaKey', 'ctrlKey', 'altKey', 'defaultPrevented'] as const)(
    'is no shortcut with %s',
    (modifier) => {
      givenPage()
      expect(isShortcut(key('c', { [modifier]: true }))).toBe(false)
    },
  )

  test('is no shortcut where single keys are switched off, unless it types nothing', () => {
    givenPage()
    vi.stubGlobal('localStorage', { getItem: () => 'off' })
    expect(isShortcut(key('c'))).toBe(false)
    expect(isShortcut(key('Escape'))).toBe(true)
    expect(isCommandKey(key('k', { ctrlKey: true }))).toBe(true)
  })

  test('is no shortcut while an input method composes', () => {
    givenPage()
    expect(isShortcut(key('c', { isComposing: true }))).toBe(false)
  })

  test('is a shortcut with shift, because ? needs it on most layouts', () => {
    givenPage()
    expect(isShortcut(key('?', { shiftKey: true }))).toBe(true)
  })

  test.each([
    'input',
    'textarea',
    'select',
    '[contenteditable="true"]',
    '[role="menu"]',
    '[role="listbox"]',
    '[role="dialog"]',
  ])('is no shortcut inside %s', (selector) => {
    givenPage()
    expect(isShortcut(key('c', { target: within(selector) }))).toBe(false)
  })

  test.each(['dialog', '[role="dialog"][aria-modal="true"]', '[data-dialog-loading]', '[aria-busy="true"]'])(
    'is no shortcut while the page has %s',
    (selector) => {
      givenPage(selector)
      expect(isShortcut(key('c'))).toBe(false)
    },
  )

  test('is no shortcut while keys are held, for some time at most', () => {
    vi.useFakeTimers()
    givenPage()
    holdKeys(5_000)
    vi.advanceTimersByTime(4_999)
    expect(isShortcut(key('c'))).toBe(false)
    vi.advanceTimersByTime(1)
    expect(isShortcut(key('c'))).toBe(true)
  })
})

describe('a key with Ctrl or Command', () => {
  test.each(['ctrlKey', 'metaKey'] as const)('is a command with %s alone', (modifier) => {
    givenPage()
    expect(isCommandKey(key('k', { [modifier]: true }))).toBe(true)
    expect(isCommandKey(key('k', { [modifier]: true, shiftKey: true }))).toBe(false)
    expect(isCommandKey(key('k', { [modifier]: true, altKey: true }))).toBe(false)
    expect(isCommandKey(key('k', { [modifier]: true, target: within('input') }))).toBe(false)
  })

  test('is no command with both or none', () => {
    givenPage()
    expect(isCommandKey(key('k', { ctrlKey: true, metaKey: true }))).toBe(false)
    expect(isCommandKey(key('k'))).toBe(false)
  })

  test('is no command while a dialog is open', () => {
    givenPage('dialog')
    expect(isCommandKey(key('k', { ctrlKey: true }))).toBe(false)
  })
})

/** A page with an element that matches `shown`. */
function givenPage(shown?: string) {
  vi.stubGlobal('document', { querySelector: (selector: string) => matchIn(selector, shown) })
}

function key(name: string, fields: Partial<KeyboardEvent> = {}): KeyboardEvent {
  return { key: name, target: within('main'), ...fields } as KeyboardEvent
}

/** An element inside one that matches `parent`. */
function within(parent: string): EventTarget {
  const closest = (selector: string) => matchIn(selector, parent)
  return { closest, matches: () => false } as unknown as EventTarget
}

/** An element, if the list has the selector, or the selector with exceptions. */
const matchIn = (selectorList: string, selector: string | undefined) =>
  selector !== undefined &&
  selectorList.split(', ').some((each) => each === selector || each.startsWith(`${selector}:not(`))
    ? {}
    : null
