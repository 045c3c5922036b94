import { describe, expect, test } from 'vitest'
import { withoutBursts } from '../../../src/services/activity/bursts.ts'
import type { StreamEvent } from '../../../src/services/activity/feed.ts'
import { bufferedSubscription } from '../../../src/services/activity/subscription.ts'

const START = { epoch: 'test', position: 0 }

function given() {
  const ending = new AbortController()
  const subscription = bufferedSubscription(START, { ending, isRelevant: () => true, position: () => START })
  const change = (position: number): StreamEvent => ({
    id: `id-${position}`,
    position,
    type: 'task.created',
    projectId: null,
    data: '{}',
  })
  return {
    subscription,
    calm: withoutBursts(subscription),
    push(from: number, to: number) {
      for (let position = from; position <= to; position++) subscription.push(change(position))
    },
  }
}

const sent = (events: StreamEvent[]) => events.map(({ id, type }) => `${type} ${id}`)

describe('a subscription without bursts', () => {
  test('has each of a few changes', async () => {
    const { calm, push } = given()
    push(1, 2)
    expect(sent(await calm.next(0))).toEqual(['task.created id-1', 'task.created id-2'])
  })

  test('has one event for many changes, with the id of the last, until there are few', async () => {
    const { calm, push } = given()
    push(1, 100)
    expect(sent(await calm.next(0))).toEqual(['stream.burst id-100'])
    push(101, 300)
    expect(sent(await calm.next(0))).toEqual(['stream.burst id-300'])
    push(301, 301)
    expect(sent(await calm.next(0))).toEqual(['task.created id-301'])
  })

  test('has what is not stored also in a burst', async () => {
    const { calm, push, subscription } = given()
    push(1, 60)
    subscription.push({ id: null, type: 'sync.progress', projectId: null, data: '{}' })
    expect(sent(await calm.next(0))).toEqual(['sync.progress null', 'stream.burst id-60'])
  })

  test('ends at once with the subscription', async () => {
    const { calm, push, subscription } = given()
    push(1, 60)
    await calm.next(0)
    subscription.end()
    expect(await calm.next(15_000)).toEqual([])
  })
})
