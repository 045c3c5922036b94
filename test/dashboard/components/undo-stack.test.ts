import { describe, expect, test } from 'vitest'
import {
  createUndoStack,
  type UndoAction,
  type UndoResult,
} from '../../../src/dashboard/components/undo-stack.ts'

describe('the undo stack', () => {
  test('undoes the newest action first and reports when it is empty', async () => {
    const { stack, log } = given()
    for (const name of ['first', 'second', 'third']) stack.push(action(name))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log).toEqual(['third', 'second', 'first'])
    stack.undoLatest()
    expect(log).toEqual(['third', 'second', 'first', 'empty'])
  })

  test('completes one action before it starts the next', async () => {
    const { stack, log } = given()
    const newest = Promise.withResolvers<UndoResult>()
    let isOlderBegun = false
    stack.push({
      label: 'older',
      async undo() {
        isOlderBegun = true
        return {}
      },
    })
    stack.push({ label: 'newest', undo: () => newest.promise })
    stack.undoLatest()
    stack.undoLatest()
    await tick()
    expect(isOlderBegun).toBe(false)
    newest.resolve({})
    await expect.poll(() => log).toEqual(['newest', 'older'])
  })

  test('undoes the action of a button once', async () => {
    const { stack, log } = given()
    const named = action('named')
    stack.push(action('older'))
    stack.push(named)
    stack.push(action('newer'))
    stack.undo(named)
    stack.undo(named)
    await expect.poll(() => log).toEqual(['named'])
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['named', 'newer'])
  })

  test('reports why an action cannot be undone and removes it', async () => {
    const { stack, log } = given()
    stack.push(action('older'))
    stack.push(action('gone', { failure: 'Someone changed it since.' }))
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['gone: Someone changed it since.'])
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['gone: Someone changed it since.', 'older'])
  })

  test('keeps an action that failed temporarily before older ones', async () => {
    const { stack, log } = given()
    stack.push(action('older'))
    stack.push(action('newer', { failure: 'No connection.', remaining: action('newer again') }))
    stack.undoLatest()
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['newer: No connection.'])
    stack.push(action('newest'))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log.slice(1)).toEqual(['newest', 'newer again', 'older'])
  })

  test('ignores actions that had failed', async () => {
    const { stack, log } = given()
    const dropped = action('dropped')
    stack.push(action('older'))
    stack.push(dropped)
    stack.push(action('refused', { isEmpty: true }))
    stack.remove(dropped)
    stack.undoLatest()
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['older'])
  })

  test('keeps a limited number of actions', async () => {
    const { stack, log } = given(2)
    for (const name of ['first', 'second', 'third']) stack.push(action(name))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log).toEqual(['third', 'second'])
  })
})

function given(maxEntries?: number) {
  const log: string[] = []
  const stack = createUndoStack({
    ...(maxEntries && { maxActions: maxEntries }),
    onUndone: ({ label }, { failure }) => log.push(failure ? `${label}: ${failure}` : label),
    onEmpty: () => log.push('empty'),
  })
  return { stack, log }
}

const action = (label: string, result: UndoResult = {}): UndoAction => ({
  label,
  undo: async () => result,
})

const tick = () => new Promise((resolve) => setImmediate(resolve))
