import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { inboxOf, type SentSource, sourceOf } from '../support/sources.ts'
import { pipeOf } from '../support/status.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const LOOP =
  '{% if payload.loop %}{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}{% endif %}A'

/** A source that had this many slow deliveries in a row. */
async function slowSource(count: number): Promise<SentSource> {
  const sent = await sourceOf(service, { template: { title: LOOP } })
  await service.query('update sources set slow_deliveries = $2 where id = $1', [sent.source.id, count])
  return sent
}

const stateOf = async ({ source }: SentSource) => {
  const { isActive, disabledReason } = (await service.get(`/api/sources/${source.id}`)).body
  return [isActive, disabledReason]
}

describe('a source whose deliveries take too long to render', () => {
  test('is switched off by the tenth in a row, says so, and can be switched on again', async () => {
    const sent = await slowSource(8)
    const { status, body } = await sent.send({ loop: 1 })
    expect([status, body.errors[0].code]).toEqual([400, 'template_failed'])
    expect(await stateOf(sent)).toEqual([true, null])
    await sent.send({ loop: 2 })
    expect(await stateOf(sent)).toEqual([false, 'slow'])
    expect((await sent.send({})).status).toBe(401)
    const { projectId, id: sourceId, name } = sent.source
    const { data } = (await service.get(`/api/activity?projectId=${projectId}&type=source.disabled`)).body
    expect(data).toMatchObject([
      { actor: { type: 'system', name: 'Inlet' }, metadata: { sourceId, name, reason: 'slow' } },
    ])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'rejected' }, { outcome: 'rejected' }])

    await service.patch(`/api/sources/${sourceId}`, { isActive: true })
    expect(await stateOf(sent)).toEqual([true, null])
    expect((await sent.send({})).status).toBe(201)
    await sent.send({ loop: 3 })
    expect(await stateOf(sent)).toEqual([true, null])
  })

  test('is the reason in the status, whatever is sent to it then', async () => {
    const sent = await slowSource(9)
    const pipe = () => pipeOf(service, { kind: 'source', id: sent.source.id })
    await sent.send({ loop: 1 })
    const disabled = await pipe()
    expect(disabled).toMatchObject({
      state: 'failing',
      lastError: { code: 'source_disabled', detail: expect.stringContaining('ten deliveries in a row') },
    })
    expect((await sent.send({})).status).toBe(401)
    expect((await sent.send({}, { headers: { 'webhook-signature': undefined } })).status).toBe(401)
    expect(await pipe()).toEqual(disabled)

    await service.patch(`/api/sources/${sent.source.id}`, { isActive: true })
    expect(await pipe()).toMatchObject({ state: 'failing', lastError: { code: 'validation_failed' } })
    expect((await sent.send({})).status).toBe(201)
    expect(await pipe()).toMatchObject({ state: 'ok' })
  })

  test('stays on if one in between is rendered in time', async () => {
    const sent = await slowSource(9)
    expect((await sent.send({})).status).toBe(201)
    await sent.send({ loop: 1 })
    expect(await stateOf(sent)).toEqual([true, null])
  })

  test('starts anew with other templates', async () => {
    const sent = await slowSource(9)
    await service.patch(`/api/sources/${sent.source.id}`, { template: { title: `B ${LOOP}` } })
    await sent.send({ loop: 1 })
    expect(await stateOf(sent)).toEqual([true, null])
  })

  test('is switched off once by several at a time', async () => {
    const sent = await slowSource(8)
    await Promise.all([1, 2, 3].map((loop) => sent.send({ loop })))
    expect(await stateOf(sent)).toEqual([false, 'slow'])
    const { projectId } = sent.source
    const { data } = (await service.get(`/api/activity?projectId=${projectId}&type=source.disabled`)).body
    expect(data).toHaveLength(1)
  })

  test('is not switched off by tests of its templates', async () => {
    const sent = await slowSource(9)
    const tested = await service.post(`/api/sources/${sent.source.id}/test`, { payload: { loop: 1 } })
    expect(tested.body.outcome).toBe('rejected')
    expect(await stateOf(sent)).toEqual([true, null])
  })
})
