import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { feedback, sender, startReceiver } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'
import { pipeOf, pipesOf } from '../support/status.ts'

const HOUR = 3_600_000
const FEEDBACK = { kind: 'feedback', id: 'feedback' } as const

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver({
    hasDatabaseClock: true,
    env: { ENCRYPTION_KEY: 'ab'.repeat(32) },
  }))
})
afterAll(() => service.close())

const ofSource = async (given: Parameters<typeof sourceOf>[1] = {}) => {
  const sent = await sourceOf(service, given)
  return { ...sent, pipe: () => pipeOf(service, { kind: 'source', id: sent.source.id }) }
}

describe('the status', () => {
  test('has everything that was never used as off', async () => {
    const { source, pipe } = await ofSource({ name: 'Unused' })
    const hours = Array(24).fill({ succeeded: 0, failed: 0 })
    expect(await pipe()).toEqual({
      kind: 'source',
      id: source.id,
      name: 'Unused',
      projectId: source.projectId,
      state: 'off',
      lastSuccessAt: null,
      lastError: null,
      hours,
    })
    expect(await pipeOf(service, FEEDBACK)).toMatchObject({ name: 'Feedback', projectId: null, state: 'off' })
  })

  test('shows a source whose sender has another secret, until it has the right one', async () => {
    const { send, pipe } = await ofSource()
    expect((await send({ title: 'One' }, { secret: `whsec_${'A'.repeat(43)}=` })).status).toBe(401)
    const failing = await pipe()
    expect(failing).toMatchObject({
      state: 'failing',
      lastSuccessAt: null,
      lastError: { code: 'invalid_credentials', detail: expect.stringContaining('ignature') },
    })
    expect(failing.hours.at(-1)).toEqual({ succeeded: 0, failed: 1 })

    expect((await send({ title: 'One' })).status).toBe(201)
    const mended = await pipe()
    expect(mended).toMatchObject({ state: 'ok', lastSuccessAt: expect.any(String) })
    expect(mended.lastError).toEqual(failing.lastError)
    expect(mended.hours.at(-1)).toEqual({ succeeded: 1, failed: 1 })
  })

  test('shows a source whose payloads make no task', async () => {
    const { send, pipe } = await ofSource()
    expect((await send({ text: 'No title' })).status).toBe(400)
    expect(await pipe()).toMatchObject({ state: 'failing', lastError: { code: 'validation_failed' } })
    expect((await send('{')).status).toBe(400)
    expect(await pipe()).toMatchObject({ state: 'failing', lastError: { code: 'invalid_json' } })
  })

  test('shows that a rejected delivery was replayed', async () => {
    const { source, send, pipe } = await ofSource()
    await send({ text: 'No title' })
    expect(await pipe()).toMatchObject({ state: 'failing' })
    await service.patch(`/api/sources/${source.id}`, { template: { title: '{{ item.text }}' } })
    const [delivery] = (await service.get(`/api/deliveries?sourceId=${source.id}`)).body.data
    expect((await service.post(`/api/deliveries/${delivery.id}/replay`)).body.outcome).toBe('accepted')
    expect(await pipe()).toMatchObject({ state: 'ok' })
  })

  test('shows feedback with another secret, until it has the right one', async () => {
    expect((await sender(service.url, 'another')(feedback())).status).toBe(401)
    expect(await pipeOf(service, FEEDBACK)).toMatchObject({
      state: 'failing',
      lastError: { code: 'invalid_credentials' },
    })
    expect((await send(feedback())).status).toBe(201)
    expect(await pipeOf(service, FEEDBACK)).toMatchObject({ state: 'ok' })
    expect((await send(feedback({ sentiment: 5 }))).status).toBe(400)
    expect(await pipeOf(service, FEEDBACK)).toMatchObject({ state: 'failing' })
    expect((await send(feedback({}, { event: 'another' }))).status).toBe(200)
    expect(await pipeOf(service, FEEDBACK)).toMatchObject({ state: 'ok' })
  })

  test('shows sources whose senders are slowed down because their secrets are wrong', async () => {
    const app = await startApp({
      env: { RATE_LIMIT_FAILURES_PER_MINUTE: '1', ENCRYPTION_KEY: 'ab'.repeat(32) },
    })
    const [one, other] = [await sourceOf(app), await sourceOf(app)]
    const secret = `whsec_${'A'.repeat(43)}=`
    expect((await one.send({ title: 'One' }, { secret })).status).toBe(401)
    expect((await other.send({ title: 'One' }, { secret })).status).toBe(429)
    for (const { source } of [one, other]) {
      expect(await pipeOf(app, { kind: 'source', id: source.id })).toMatchObject({
        state: 'failing',
        lastError: { code: 'invalid_credentials' },
      })
    }
    await app.close()
  })

  test('counts by hour, for a day', async () => {
    const { send, pipe } = await ofSource()
    await send({ title: 'One' })
    await pipe()
    await passTime(service, 2 * HOUR)
    await send({ title: 'Two' })
    await send({ title: 'Three' })
    const { hours } = await pipe()
    expect(hours).toHaveLength(24)
    expect([hours.at(-1), hours.at(-3)]).toEqual([
      { succeeded: 2, failed: 0 },
      { succeeded: 1, failed: 0 },
    ])
    await passTime(service, 24 * HOUR)
    await service.service.cleanup.cleanUp()
    expect((await pipe()).hours).toEqual(Array(24).fill({ succeeded: 0, failed: 0 }))
    expect(await service.query('select from pipe_hours')).toEqual([])
  })

  test('has what somebody switched off as off, whatever is sent to it', async () => {
    const { source, send, pipe } = await ofSource()
    await send({ title: 'One' })
    expect(await pipe()).toMatchObject({ state: 'ok' })
    await service.patch(`/api/sources/${source.id}`, { isActive: false })
    expect((await send({ title: 'Two' })).status).toBe(401)
    expect(await pipe()).toMatchObject({ state: 'off', lastError: null })
    await service.patch(`/api/sources/${source.id}`, { isActive: true })
    expect(await pipe()).toMatchObject({ state: 'ok' })
    await service.post(`/api/projects/${source.projectId}/archive`)
    expect(await pipe()).toMatchObject({ state: 'off' })
  })

  test('loses what was deleted, with its counts', async () => {
    const { source, send } = await ofSource()
    await send({ title: 'One' })
    await pipesOf(service)
    await send({ title: 'Two' })
    await service.delete(`/api/sources/${source.id}`)
    expect((await pipesOf(service)).map(({ id }) => id)).not.toContain(source.id)
    for (const table of ['pipes', 'pipe_hours', 'pipe_pauses']) {
      expect(await service.query(`select from ${table} where id = $1`, [source.id])).toEqual([])
    }
  })

  test('keeps nothing about sources that do not exist', async () => {
    const unknown = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'
    for (const id of [unknown, 'x', '%00']) {
      await service.post(`/in/sources/${id}`, {}, { key: null, headers: { authorization: 'Bearer x' } })
    }
    const { source, send } = await ofSource()
    await send({ title: 'One' })
    await pipesOf(service)
    expect(await service.query(`select id from pipes where id in ($1, 'x')`, [unknown])).toEqual([])
    expect(await pipeOf(service, { kind: 'source', id: source.id })).toMatchObject({ state: 'ok' })
  })
})

describe('silence', () => {
  /** A source that was used for some days, with a pause of at most this long. */
  async function usedFor(days: number, pause: number) {
    const { send, pipe, source } = await ofSource()
    for (let passed = 0; passed <= days * 24 * HOUR; passed += pause) {
      await send({ title: 'One' })
      await pipe()
      await passTime(service, pause)
    }
    return { send, pipe, source }
  }

  test('is three times the longest pause', async () => {
    const { send, pipe } = await usedFor(2, 12 * HOUR)
    await passTime(service, 23 * HOUR)
    expect(await pipe()).toMatchObject({ state: 'ok' })
    await passTime(service, 2 * HOUR)
    expect(await pipe()).toMatchObject({ state: 'silent', lastError: null })
    await passTime(service, 60 * 24 * HOUR)
    await service.service.cleanup.cleanUp()
    expect(await pipe()).toMatchObject({ state: 'silent' })
    await send({ title: 'Again' })
    expect(await pipe()).toMatchObject({ state: 'ok' })
  })

  test('is compared with pauses of four weeks', async () => {
    const { send, pipe, source } = await usedFor(2, 12 * HOUR)
    // Real time passes, too.
    const longestHours = async () => {
      const [row] = await service.query('select max(longest_seconds) from pipe_pauses where id = $1', [
        source.id,
      ])
      return Math.round(row.max / 3_600)
    }
    expect(await longestHours()).toBe(12)
    for (let days = 0; days < 31; days++) {
      for (let hours = 0; hours < 24; hours += 6) {
        await send({ title: 'One' })
        await pipe()
        await passTime(service, 6 * HOUR)
      }
    }
    await service.service.cleanup.cleanUp()
    expect(await longestHours()).toBe(6)
    await passTime(service, 13 * HOUR)
    expect(await pipe()).toMatchObject({ state: 'silent' })
  })

  test('is not expected of what was used on one day', async () => {
    const { pipe } = await ofSource().then(async ({ send, pipe }) => {
      await send({ title: 'One' })
      await pipe()
      await send({ title: 'Two' })
      return { pipe }
    })
    await pipe()
    await passTime(service, 400 * 24 * HOUR)
    expect(await pipe()).toMatchObject({ state: 'ok' })
  })
})

describe('who reads the status', () => {
  const keyWith = (body: object) =>
    service.post('/api/keys', { name: 'x', ...body }).then(({ body }) => body.key)

  test('needs tasks:read', async () => {
    const key = await keyWith({ scopes: ['rules:read'] })
    expect((await service.get('/api/status', { key })).status).toBe(403)
  })

  test('sees what is in reach, without details, and nothing of the whole service', async () => {
    const [inside, outside] = [await ofSource(), await ofSource()]
    await inside.send('{')
    const key = await keyWith({ scopes: ['tasks:read'], projectId: inside.source.projectId })
    const pipes = await pipesOf(service, { key })
    expect(pipes.map(({ id }) => id)).toEqual([inside.source.id])
    expect(pipes[0]?.lastError).toMatchObject({ code: 'invalid_json', detail: null })

    const everywhere = await pipesOf(service, { key: await keyWith({ scopes: ['tasks:read'] }) })
    const ids = everywhere.map(({ id }) => id)
    expect([ids.includes(outside.source.id), ids.includes('feedback')]).toEqual([true, false])

    const admin = await keyWith({ scopes: ['admin'], projectId: inside.source.projectId })
    const [pipe, ...others] = await pipesOf(service, { key: admin })
    expect(others).toEqual([])
    expect(pipe?.lastError?.detail).toContain('JSON')
  })
})
