import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { sign } from '@octokit/webhooks-methods'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { deliver, type HostDelivery, itemDelivery } from '../support/code-host-deliveries.ts'
import { written } from '../support/code-host-items.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

const limits = limitsOf(loadConfig({ RATE_LIMIT_FAILURES_PER_MINUTE: '0' }))

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ limits })
})
afterAll(() => service.close())

async function connected() {
  const { project, repository } = await service.connected()
  const path = `/api/projects/${project.id}/codehost`
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const about = { api: service.host.url, repository: repository.about, action: 'opened' }
  const inbox = () =>
    service.query(
      `select d.* from deliveries d join codehost_connections c on c.id = d.connection_id
       where c.project_id = $1 order by d.id`,
      [project.id],
    )
  return {
    webhook,
    inbox,
    opened: () => itemDelivery(repository.issue(), about),
    tasks: () => service.tasksOf(project.id),
    newSecret: async () => (await service.post(`${path}/webhook-secret`)).body.secret as string,
    applied: () =>
      vi.waitFor(async () => {
        for (const { outcome } of await inbox()) expect(outcome).toMatch(/accepted|updated/)
      }, 10_000),
  }
}

/** Sends a delivery up to the middle of its body. */
async function sendHalf(
  { url, secret }: { url: string; secret: string },
  {
    delivery: { event, payload },
    deliveryId = randomUUID(),
  }: { delivery: HostDelivery; deliveryId?: string },
) {
  const body = Buffer.from(written(payload))
  const sent = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-github-event': event,
      'x-github-delivery': deliveryId,
      'x-hub-signature-256': await sign(secret, body.toString()),
    },
  })
  const status = new Promise<number>((resolve) => {
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0))
    sent.on('error', () => resolve(0))
  })
  const half = Math.floor(body.length / 2)
  sent.write(body.subarray(0, half))
  await vi.waitFor(() => expect(limits.unverifiedIntake.totalBytes()).toBe(half))
  return { status, finish: () => sent.end(body.subarray(half)), cut: () => sent.destroy() }
}

test('a delivery whose connection is cut in the middle of its body leaves nothing, and can be sent again', async () => {
  const { webhook, opened, inbox, applied, tasks } = await connected()
  const delivery = opened()
  const deliveryId = randomUUID()
  const { status, cut } = await sendHalf(webhook, { delivery, deliveryId })
  cut()
  expect(await status).toBe(0)
  await vi.waitFor(() => expect(limits.unverifiedIntake.totalBytes()).toBe(0))
  expect(await inbox()).toEqual([])
  expect((await deliver(webhook, delivery, { deliveryId })).body).toMatchObject({ duplicate: false })
  await applied()
  expect((await tasks()).size).toBe(1)
})

test('a delivery on its way while the secret is replaced is accepted, and so are those with any secret of the day', async () => {
  const { webhook, opened, newSecret, applied, tasks } = await connected()
  const onItsWay = await sendHalf(webhook, { delivery: opened() })
  const secret = await newSecret()
  onItsWay.finish()
  expect(await onItsWay.status).toBe(202)
  expect((await deliver(webhook, opened())).status).toBe(202)
  expect((await deliver({ ...webhook, secret }, opened())).status).toBe(202)
  await applied()
  expect((await tasks()).size).toBe(3)

  // The first one is two secrets ago now.
  const last = await newSecret()
  expect((await deliver(webhook, opened())).status).toBe(202)
  expect((await deliver({ ...webhook, secret }, opened())).status).toBe(202)
  expect((await deliver({ ...webhook, secret: last }, opened())).status).toBe(202)
  await applied()
  expect((await tasks()).size).toBe(6)
})

test('the same body under another id changes nothing', async () => {
  const { webhook, opened, inbox, applied, tasks } = await connected()
  const delivery = opened()
  await deliver(webhook, delivery)
  await applied()
  const before = (await tasks()).get(1)
  expect((await deliver(webhook, delivery)).body).toMatchObject({ accepted: true, duplicate: false })
  await applied()
  expect((await inbox()).map(({ reason }) => reason)).toEqual([null, 'unchanged'])
  expect((await tasks()).get(1)).toEqual(before)
  const log = await service.query('select type from activity where task_id = $1', [before.id])
  expect(log).toEqual([{ type: 'task.created' }])
})
