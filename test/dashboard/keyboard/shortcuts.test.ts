import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  awaitSearch,
  isSearchAwaited,
  keepForSearch,
  takeAwaitedSearch,
} from '../../../src/dashboard/keyboard/pending-search.ts'
import { isCommand } from '../../../src/dashboard/keyboard/shortcuts.ts'

afterEach(() => {
  takeAwaitedSearch()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('a bare key', () => {
  test('is a command on a page where nobody writes', () => {
    givenPage()
    expect(isCommand(key('c'))).toBe(true)
    expect(isCommand(key('c', { target: null }))).toBe(true)
  })

  test.each(['metaKey', 'ctrlKey', 'altKey', 'defaultPrevented'] as const)('is none with %s', (held) => {
    givenPage()
    expect(isCommand(key('c', { [held]: true }))).toBe(false)
  })

  test('is one with shift, for ? is on another key in every language', () => {
    givenPage()
    expect(isCommand(key('?', { shiftKey: true }))).toBe(true)
  })

  test.each([
    'input',
    'textarea',
    'select',
    '[contenteditable="true"]',
    '[role="menu"]',
    '[role="listbox"]',
    '[role="dialog"]',
  ])('is none inside of %s', (place) => {
    givenPage()
    expect(isCommand(key('c', { target: within(place) }))).toBe(false)
  })

  test.each(['[role="dialog"][aria-modal="true"]', '[data-dialog-loading]', '[aria-busy="true"]'])(
    'is none while the page has %s',
    (place) => {
      givenPage(place)
      expect(isCommand(key('c'))).toBe(false)
    },
  )

  test('is none while the search box is on its way, and one again when it never comes', () => {
    vi.useFakeTimers()
    givenPage()
    awaitSearch()
    vi.advanceTimersByTime(4_999)
    expect(isCommand(key('c'))).toBe(false)
    vi.advanceTimersByTime(1)
    expect(isCommand(key('c'))).toBe(true)
  })
})

describe('what is typed before the search box is there', () => {
  test('is written into it', () => {
    awaitSearch()
    for (const name of ['c', 'r', 'x', 'Backspace', 'a', ' ', 'Ü'])
      expect(keepForSearch(key(name))).toBe(true)
    expect(takeAwaitedSearch()).toBe('cra Ü')
    expect(isSearchAwaited()).toBe(false)
  })

  test.each([key('Tab'), key('ArrowDown'), key('r', { metaKey: true }), key('l', { ctrlKey: true })])(
    'leaves the browser its own keys: $key',
    (pressed) => {
      awaitSearch()
      expect(keepForSearch(pressed)).toBe(false)
      expect(takeAwaitedSearch()).toBe('')
    },
  )

  test('is called off by Escape', () => {
    awaitSearch()
    expect(keepForSearch(key('Escape'))).toBe(true)
    expect(isSearchAwaited()).toBe(false)
    expect(keepForSearch(key('c'))).toBe(false)
  })

  test('does not hold what was typed for another', () => {
    awaitSearch()
    keepForSearch(key('x'))
    awaitSearch()
    expect(takeAwaitedSearch()).toBe('')
  })
})

/** A page that shows something of this kind. */
function givenPage(shown?: string) {
  vi.stubGlobal('document', { querySelector: (selector: string) => isAmong(selector, shown) })
}

function key(name: string, fields: Partial<KeyboardEvent> = {}): KeyboardEvent {
  return { key: name, target: within('main'), ...fields } as KeyboardEvent
}

/** Something inside of what a simple selector names. */
function within(place: string): EventTarget {
  return { closest: (selector: string) => isAmong(selector, place) } as unknown as EventTarget
}

const isAmong = (selector: string, place: string | undefined) =>
  place !== undefined && selector.split(', ').includes(place) ? {} : null
