import { describe, expect, test } from 'vitest'
import {
  createUndoStack,
  type UndoEntry,
  type UndoResult,
} from '../../../src/dashboard/components/undo-stack.ts'

describe('the undo stack', () => {
  test('undoes the newest first, step by step, and then says that nothing is left', async () => {
    const { stack, log } = given()
    for (const name of ['first', 'second', 'third']) stack.push(entry(name))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log).toEqual(['third', 'second', 'first'])
    stack.undoLatest()
    expect(log).toEqual(['third', 'second', 'first', 'empty'])
  })

  test('finishes one before it begins the next', async () => {
    const { stack, log } = given()
    const newest = Promise.withResolvers<UndoResult>()
    let isOlderBegun = false
    stack.push({
      sentence: 'older',
      async undo() {
        isOlderBegun = true
        return {}
      },
    })
    stack.push({ sentence: 'newest', undo: () => newest.promise })
    stack.undoLatest()
    stack.undoLatest()
    await tick()
    expect(isOlderBegun).toBe(false)
    newest.resolve({})
    await expect.poll(() => log).toEqual(['newest', 'older'])
  })

  test('undoes what a button names, once', async () => {
    const { stack, log } = given()
    const named = entry('named')
    stack.push(entry('older'))
    stack.push(named)
    stack.push(entry('newer'))
    stack.undo(named)
    stack.undo(named)
    await expect.poll(() => log).toEqual(['named'])
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['named', 'newer'])
  })

  test('says why an entry can no longer be undone, and lets go of it', async () => {
    const { stack, log } = given()
    stack.push(entry('older'))
    stack.push(entry('gone', { notUndone: 'Someone changed it since.' }))
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['gone: Someone changed it since.'])
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['gone: Someone changed it since.', 'older'])
  })

  test('keeps what failed on its way in its place, before anything older', async () => {
    const { stack, log } = given()
    stack.push(entry('older'))
    stack.push(entry('newer', { notUndone: 'No connection.', rest: entry('newer again') }))
    stack.undoLatest()
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['newer: No connection.'])
    stack.push(entry('newest'))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log.slice(1)).toEqual(['newest', 'newer again', 'older'])
  })

  test('says nothing of what was never done', async () => {
    const { stack, log } = given()
    const dropped = entry('dropped')
    stack.push(entry('older'))
    stack.push(dropped)
    stack.push(entry('refused', { isEmpty: true }))
    stack.drop(dropped)
    stack.undoLatest()
    stack.undoLatest()
    await expect.poll(() => log).toEqual(['older'])
  })

  test('remembers so many entries and no more', async () => {
    const { stack, log } = given(2)
    for (const name of ['first', 'second', 'third']) stack.push(entry(name))
    for (let press = 0; press < 3; press++) stack.undoLatest()
    await expect.poll(() => log).toEqual(['third', 'second'])
  })
})

function given(maxEntries?: number) {
  const log: string[] = []
  const stack = createUndoStack({
    ...(maxEntries && { maxEntries }),
    onUndone: ({ sentence }, { notUndone }) => log.push(notUndone ? `${sentence}: ${notUndone}` : sentence),
    onEmpty: () => log.push('empty'),
  })
  return { stack, log }
}

const entry = (sentence: string, result: UndoResult = {}): UndoEntry => ({
  sentence,
  undo: async () => result,
})

const tick = () => new Promise((resolve) => setImmediate(resolve))
