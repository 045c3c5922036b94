import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isEnter, isEnterWithCommand } from '../../../src/dashboard/components/is-enter.ts'

const key = (fields: object) =>
  ({
    key: 'Enter',
    isComposing: false,
    keyCode: 13,
    ctrlKey: false,
    metaKey: false,
    ...fields,
  }) as KeyboardEvent

describe('Enter', () => {
  test('is a command unless it chooses a word of an input method', () => {
    expect(isEnter(key({}))).toBe(true)
    expect(isEnter(key({ isComposing: true }))).toBe(false)
    // Safari's.
    expect(isEnter(key({ keyCode: 229 }))).toBe(false)
    expect(isEnter({ key: 'Enter', nativeEvent: key({ isComposing: true }) } as never)).toBe(false)
  })

  test('sends longer texts with Ctrl or Command', () => {
    expect([{}, { ctrlKey: true }, { metaKey: true }].map((each) => isEnterWithCommand(key(each)))).toEqual([
      false,
      true,
      true,
    ])
    expect(isEnterWithCommand(key({ ctrlKey: true, isComposing: true }))).toBe(false)
  })

  test('is read nowhere else in the dashboard, but among keys that are checked for composing before', () => {
    const dashboard = new URL('../../../src/dashboard/', import.meta.url)
    const files = readdirSync(dashboard, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    )
    const readers = files.filter((file) =>
      /key\b.{0,12}'Enter'/.test(readFileSync(new URL(file, dashboard), 'utf8')),
    )
    expect(readers.sort()).toEqual([
      'components/is-enter.ts',
      'keyboard/release-keys.ts',
      'tasks/list/list-command.ts',
    ])
  })
})
