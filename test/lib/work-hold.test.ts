import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { workHold } from '../../src/lib/work-hold.ts'

function given() {
  const response = Object.assign(new EventEmitter(), { closed: false })
  let released = 0
  const hold = workHold(response as never)
  hold.add(() => released++)
  const close = () => {
    response.closed = true
    response.emit('close')
  }
  return { hold, close, released: () => released }
}

test('what a request reserved is released once, when the response is produced', () => {
  const { hold, close, released } = given()
  hold.release()
  hold.release()
  close()
  expect(released()).toBe(1)
})

test('and when the client disconnects', () => {
  const { close, released } = given()
  close()
  expect(released()).toBe(1)
})

test('while work is in progress, a disconnect releases it only when the work has ended', async () => {
  const { hold, close, released } = given()
  const work = Promise.withResolvers<void>()
  const done = hold.during(() => work.promise)
  close()
  expect(released()).toBe(0)
  work.resolve()
  await done
  expect(released()).toBe(1)
})
