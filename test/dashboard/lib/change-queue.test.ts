import { expect, test } from 'vitest'
import { createChangeQueue } from '../../../src/dashboard/lib/change-queue.ts'

test('changes of one thing are sent one after another, each on the version before', async () => {
  const { send, requests } = given()
  const both = [send(), send()]
  await settle()
  expect(requests.map(({ version }) => version)).toEqual([1])
  requests[0]?.respond({ version: 2 })
  await settle()
  expect(requests.map(({ version }) => version)).toEqual([1, 2])
  requests[1]?.respond({ version: 3 })
  expect(await Promise.all(both)).toEqual([{ version: 2 }, { version: 3 }])
})

test('a change that fails is followed by the next', async () => {
  const { send, requests } = given()
  const [first] = [send(), send()]
  await settle()
  requests[0]?.fail()
  await expect(first).rejects.toThrow('away')
  await settle()
  expect(requests.map(({ version }) => version)).toEqual([1, 1])
})

test('a change follows those by others, but not what is older', async () => {
  const { queue, send, requests } = given()
  queue.update({ version: 5 })
  queue.update({ version: 4 })
  void send()
  await settle()
  expect(requests.map(({ version }) => version)).toEqual([5])
})

const settle = () => new Promise((resolve) => setImmediate(resolve))

interface Thing {
  version: number
}

function given() {
  const queue = createChangeQueue<Thing>({ version: 1 })
  const requests: { version: number; respond(thing: Thing): void; fail(): void }[] = []
  const send = () =>
    queue.send(
      ({ version }) =>
        new Promise((resolve, reject) =>
          requests.push({ version, respond: resolve, fail: () => reject(new Error('away')) }),
        ),
    )
  return { queue, send, requests }
}
