import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { requestResources } from '../../src/lib/request-resources.ts'

function given() {
  const response = Object.assign(new EventEmitter(), { closed: false })
  let released = 0
  const resources = requestResources(response as never)
  resources.add(() => released++)
  const close = () => {
    response.closed = true
    response.emit('close')
  }
  return { resources, close, released: () => released }
}

test('what a request reserved is released once, when the response is produced', () => {
  const { resources, close, released } = given()
  resources.release()
  resources.release()
  close()
  expect(released()).toBe(1)
})

test('and when the client disconnects', () => {
  const { close, released } = given()
  close()
  expect(released()).toBe(1)
})

test('while work is in progress, a disconnect releases it only when the work has ended', async () => {
  const { resources, close, released } = given()
  const work = Promise.withResolvers<void>()
  const done = resources.during(() => work.promise)
  close()
  expect(released()).toBe(0)
  work.resolve()
  await done
  expect(released()).toBe(1)
})
