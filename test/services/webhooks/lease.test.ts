import { expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { sendingApp } from '../../support/sending-app.ts'
import { type Receiver, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp((sending) => {
  ;({ app, receiver } = sending)
})

test('a sender that lost its lease can neither extend nor release that of the next one', async () => {
  const { webhookQueue } = app.repos
  await webhookTo(app, { url: receiver.url })
  await createTask('To be sent')
  await app.service.webhookQueue.writeDeliveries()
  const take = (leaseMs: number) => webhookQueue.take({ without: [], leaseMs })
  const lost = await take(0)
  const held = await take(60_000)
  if (!lost || !held) throw new Error('There is something to send.')
  expect(held).toMatchObject({ id: lost.id, lease: lost.lease + 1 })

  expect(await webhookQueue.renew(lost, 0)).toBeUndefined()
  expect(await webhookQueue.findDue(lost)).toBeUndefined()
  await webhookQueue.release(lost, 0)

  expect(await take(60_000)).toBeUndefined()
  expect(await webhookQueue.findDue(held)).toMatchObject({ id: held.id })
  expect(await webhookQueue.renew(held, 60_000)).toMatchObject({ id: held.id })
})
