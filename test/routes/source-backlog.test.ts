import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '../support/app.ts'
import { deliveriesOf } from '../support/deliveries.ts'
import { type BacklogApp, madeBy, startBacklogApp } from '../support/source-backlog.ts'
import { inboxOf, type SentSource, sourceOf } from '../support/sources.ts'

let service: BacklogApp
beforeAll(async () => {
  service = await startBacklogApp()
})
afterAll(() => service.close())

const bearer = { scheme: 'bearer' } as const
const LOOP = '{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}'

const eventsOf = ({ source }: SentSource, query = '') =>
  deliveriesOf(service, `sourceId=${source.id}${query}`)
const outcomesOf = async (sent: SentSource) => (await inboxOf(service, sent)).map(({ outcome }) => outcome)
const titlesOf = async (sent: SentSource) => (await madeBy(service, sent)).map(({ title }) => title)
const changeSource = ({ source }: SentSource, change: object) =>
  service.patch(`/api/sources/${source.id}`, change)
const processLater = async () => {
  await service.renew()
  await service.process()
}

/** A source that has used up its share. */
async function busySource(given: Parameters<typeof sourceOf>[1] = {}): Promise<SentSource> {
  const sent = await sourceOf(service, given)
  service.useUp(sent)
  return sent
}

describe('a delivery of a source that has used up its share', () => {
  test('is stored, and responded to with 202 at once, and makes its task later', async () => {
    const sent = await busySource()
    const { status, body } = await sent.send({ title: 'A' }, { id: 'msg_pending' })
    const { deliveryId } = body
    expect([status, body]).toEqual([
      202,
      { accepted: true, outcome: 'pending', deliveryId: expect.any(String), duplicate: false },
    ])
    const pending = { id: deliveryId, outcome: 'pending', payload: { title: 'A' }, tasks: [] }
    expect(await eventsOf(sent, '&outcome=pending')).toMatchObject([pending])
    await service.process()
    expect(await eventsOf(sent)).toMatchObject([pending])

    await processLater()
    const [event] = await eventsOf(sent)
    expect(event).toMatchObject({ id: deliveryId, outcome: 'accepted', senderId: 'msg_pending' })
    expect(await madeBy(service, sent)).toMatchObject([{ title: 'A', version: 1 }])
    expect(await service.query('select from source_backlog')).toEqual([])
    expect((await sent.send({ title: 'B' })).status).toBe(201)
  })

  test('keeps its body, however large it is', async () => {
    const sent = await busySource({ template: { title: '{{ payload.text | size }}' } })
    await sent.send({ text: 'é'.repeat(500_000) })
    expect(await eventsOf(sent)).toMatchObject([{ payloadCut: true }])
    await processLater()
    expect(await titlesOf(sent)).toEqual(['500000'])
  })

  test('is a repeat if it is sent again, while it is pending and later', async () => {
    const sent = await busySource()
    const id = 'msg_again'
    const { deliveryId } = (await sent.send({ title: 'A' }, { id })).body
    const again = await sent.send({ title: 'A' }, { id })
    expect([again.status, again.body]).toMatchObject([202, { deliveryId, duplicate: true }])
    await processLater()
    const later = await sent.send({ title: 'A' }, { id })
    expect([later.status, later.body]).toMatchObject([200, { deliveryId, duplicate: true }])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'accepted', duplicates: 2 }])
    expect(await titlesOf(sent)).toEqual(['A'])
  })

  test('waits for those before it, although its source may render again', async () => {
    const sent = await busySource()
    const target = await service.repos.within({ projectIds: null }).sources.find(sent.source.id)
    if (!target) throw new Error('The source is missing.')
    await service.renew()
    const storeRendered = await service.service.receivers.template(target, {
      bytes: Buffer.from('{"title":"B"}'),
      headers: { 'webhook-id': 'msg_rendered' },
    })
    service.useUp(sent)
    expect((await sent.send({ title: 'A' })).status).toBe(202)
    expect(await storeRendered()).toMatchObject({ outcome: 'pending' })
    await service.renew()
    expect((await sent.send({ title: 'C' })).status).toBe(202)
    await service.process()
    expect(await titlesOf(sent)).toEqual(['A', 'B', 'C'])
  })

  test('is judged later: filtered, not JSON, without a title, for an archived project', async () => {
    const sent = await busySource({ filter: 'payload.ok' })
    const id = 'msg_untitled'
    expect((await sent.send({ ok: false })).status).toBe(202)
    expect((await sent.send('no JSON')).status).toBe(202)
    expect((await sent.send({ ok: true }, { id })).status).toBe(202)
    await processLater()
    expect(await inboxOf(service, sent)).toMatchObject([
      { outcome: 'filtered' },
      { outcome: 'rejected', errors: [{ code: 'invalid_json' }] },
      { outcome: 'rejected', errors: [{ path: '/template/title' }] },
    ])
    // The sender may mend it.
    expect((await sent.send({ ok: true, title: 'A' }, { id })).status).toBe(201)
    service.useUp(sent)
    expect((await sent.send({ ok: true, title: 'B' })).status).toBe(202)
    await service.post(`/api/projects/${sent.source.projectId}/archive`)
    await processLater()
    expect((await inboxOf(service, sent)).at(-1)).toMatchObject({
      outcome: 'rejected',
      errors: [{ code: 'project_archived' }],
    })
  })

  test('is counted if it takes too long, and switches its source off', async () => {
    const title = `{% if payload.loop %}${LOOP}{% endif %}A`
    const sent = await busySource({ template: { title } })
    await service.query('update sources set slow_deliveries = 9 where id = $1', [sent.source.id])
    await sent.send({ loop: true })
    await sent.send({})
    await processLater()
    const { body } = await service.get(`/api/sources/${sent.source.id}`)
    expect([body.isActive, body.disabledReason]).toEqual([false, 'slow'])
    expect(await outcomesOf(sent)).toEqual(['rejected', 'pending'])

    await processLater()
    expect(await outcomesOf(sent)).toEqual(['rejected', 'pending'])
    await changeSource(sent, { isActive: true })
    await processLater()
    expect(await outcomesOf(sent)).toEqual(['rejected', 'accepted'])
  })

  test('waits while its source is switched off, and is rendered with its templates of then', async () => {
    const sent = await busySource()
    await sent.send({ title: 'A' })
    await changeSource(sent, { isActive: false })
    await processLater()
    expect(await outcomesOf(sent)).toEqual(['pending'])
    await changeSource(sent, { isActive: true, template: { title: '{{ item.title }}!' } })
    await processLater()
    expect(await titlesOf(sent)).toEqual(['A!'])
  })

  test('goes with its source', async () => {
    const sent = await busySource()
    await sent.send({ title: 'A' })
    expect((await service.delete(`/api/sources/${sent.source.id}`)).status).toBe(204)
    expect(await service.query('select from source_backlog')).toEqual([])
  })

  test('cannot be replayed, but tested', async () => {
    const sent = await busySource()
    const { deliveryId } = (await sent.send({ title: 'A' })).body
    const path = `/api/sources/${sent.source.id}`
    expect(codeOf(await service.post(`/api/deliveries/${deliveryId}/replay`))).toEqual([
      409,
      'delivery_not_replayable',
    ])
    const tested = await service.post(`${path}/test`, { deliveryId })
    expect(tested.body.tasks).toMatchObject([{ task: { title: 'A' } }])
    await processLater()
    expect((await service.post(`/api/deliveries/${deliveryId}/replay`)).body.outcome).toBe('accepted')
  })

  test('without an ID repeats what arrived in the ten seconds before it, not before it was processed', async () => {
    const sent = await busySource({ verify: bearer })
    for (const _ of [1, 2, 3]) await sent.send({ title: 'A' })
    const [first] = await inboxOf(service, sent)
    await service.query(
      `update deliveries set received_at = received_at - interval '11 seconds' where id = $1`,
      [first?.id],
    )
    await processLater()
    expect(await inboxOf(service, sent)).toMatchObject([{ duplicates: 0 }, { duplicates: 1 }])
    expect(await titlesOf(sent)).toEqual(['A', 'A'])
  })

  test('ends as rejected after thirty days in which its source was off', async () => {
    const sent = await busySource()
    await sent.send({ title: 'A' })
    await changeSource(sent, { isActive: false })
    const past = new Date(Date.now() - 40 * 86_400_000).getTime().toString(16).padStart(12, '0')
    await service.query(
      `with event as (insert into deliveries select * from jsonb_populate_record(null::deliveries,
         (select to_jsonb(deliveries) || jsonb_build_object('dedup_key', null,
           'id', overlay(id::text placing $2 from 1 for 13)) from deliveries where source_id = $1)) returning id)
       update source_backlog set delivery_id = event.id from event where source_id = $1`,
      [sent.source.id, `${past.slice(0, 8)}-${past.slice(8)}`],
    )
    await service.service.cleanup.cleanUp()
    expect((await inboxOf(service, sent))[0]).toMatchObject({
      outcome: 'rejected',
      payload: null,
      errors: [{ message: expect.stringContaining('30 days') }],
    })
    expect(await service.query('select from source_backlog')).toEqual([])
  })
})

describe('the pending deliveries of a source', () => {
  test.each<[string, number, number]>([
    ['1,000', 1_000, 1],
    ['16 MiB', 1, 16 * 1024 * 1024],
  ])('are at most %s: after that, senders are told to wait, and others are not', async (_, count, bytes) => {
    const sent = await busySource()
    await service.query(
      `with made as (
         insert into deliveries (id, receiver, source_id, outcome, duplicates, attempts, received_at, tasks, payload_cut)
         select gen_random_uuid(), 'source', $1, 'pending', 0, 0, now(), '[]', false from generate_series(1, $2::int) returning id)
       insert into source_backlog select id, $1, row_number() over (), convert_to(repeat(' ', $3), 'UTF8'), now() from made`,
      [sent.source.id, count, bytes],
    )
    const { status, headers, body } = await sent.send({ title: 'A' }, { id: 'msg_full' })
    expect([status, body.code]).toEqual([429, 'rate_limited'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await (await busySource()).send({ title: 'A' })).status).toBe(202)
    await service.query(`delete from deliveries where source_id = $1`, [sent.source.id])
    expect((await sent.send({ title: 'A' }, { id: 'msg_full' })).status).toBe(202)
  })

  test('are stored together and once each, when many arrive at a time', async () => {
    const sent = await busySource()
    const ids = Array.from({ length: 60 }, (_, index) => `msg_${index % 30}`)
    const responses = await Promise.all(ids.map((id) => sent.send({ title: id }, { id })))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]))
    expect(responses.filter(({ body }) => body.duplicate)).toHaveLength(30)
    await processLater()
    expect((await titlesOf(sent)).toSorted()).toEqual([...new Set(ids)].toSorted())
  })
})
