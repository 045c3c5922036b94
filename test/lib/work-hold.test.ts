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

test('what a request holds is free once, when the response is produced', () => {
  const { hold, close, released } = given()
  hold.release()
  hold.release()
  close()
  expect(released()).toBe(1)
})

test('and when the client goes away', () => {
  const { close, released } = given()
  close()
  expect(released()).toBe(1)
})

test('while it is worked on, who goes away frees it only when the work has ended', async () => {
  const { hold, close, released } = given()
  const work = Promise.withResolvers<void>()
  const done = hold.during(() => work.promise)
  close()
  expect(released()).toBe(0)
  work.resolve()
  await done
  expect(released()).toBe(1)
})
