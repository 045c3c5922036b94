import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BacklogApp, madeBy, startBacklogApp } from '../../support/source-backlog.ts'
import { type SentSource, sourceOf } from '../../support/sources.ts'

let service: BacklogApp
beforeAll(async () => {
  service = await startBacklogApp()
})
afterAll(() => service.close())

const template = { title: '{{ item.title }}', externalId: '{{ item.id }}', status: '{{ item.state }}' }

const payload = fc.record({
  title: fc.constantFrom('A', 'B', ''),
  id: fc.constantFrom('x', 'y', ''),
  state: fc.constantFrom('open', 'done', ''),
})

/**
 * Makes a task whenever it is processed. The repeat of one that made none is processed as if it were new, but while the
 * first is pending, nobody knows.
 */
const accepted = fc.record({
  title: fc.constantFrom('A', 'B'),
  id: fc.constantFrom('x', 'y', ''),
  state: fc.constantFrom('open', ''),
})

/** What happens before a delivery to the source that is busy at times. */
const before = fc.constantFrom('busy', 'processed', 'nothing')

const history = fc.record({
  /** Those with an ID of their sender, which sends them again. */
  identified: fc.array(accepted, { minLength: 3, maxLength: 3 }),
  deliveries: fc.array(fc.record({ before, sent: fc.oneof(payload, fc.constantFrom(0, 1, 2)) }), {
    minLength: 1,
    maxLength: 12,
  }),
})

test('deliveries end as the same tasks in the same order, whether they were pending or not', async () => {
  let pending = 0
  await fc.assert(
    fc.asyncProperty(history, async ({ identified, deliveries }) => {
      const direct = await sourceOf(service, { verify: { scheme: 'bearer' }, template })
      const busy = await sourceOf(service, { verify: { scheme: 'bearer' }, template })
      for (const { sent, before } of deliveries) {
        if (before === 'processed') await processed()
        if (before === 'busy') service.useUp(busy)
        const isIdentified = typeof sent === 'number'
        const body = isIdentified ? identified[sent] : sent
        const options = isIdentified ? { headers: { 'idempotency-key': `delivery-${sent}` } } : {}
        await direct.send(body, options)
        if ((await busy.send(body, options)).status === 202) pending++
      }
      await processed()
      expect(await madeBy(service, busy)).toEqual(await madeBy(service, direct))
      expect(await acceptedBy(busy)).toEqual(await acceptedBy(direct))
    }),
    { numRuns: 25 },
  )
  expect(pending).toBeGreaterThan(25)
})

async function processed() {
  await service.renew()
  await service.process()
}

const acceptedBy = ({ source }: SentSource) =>
  service.query(
    `select duplicates, jsonb_array_length(tasks) as tasks, payload
     from deliveries where source_id = $1 and outcome = 'accepted' order by id`,
    [source.id],
  )
