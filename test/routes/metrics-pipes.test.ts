import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { measured } from '../support/metrics.ts'
import { startWithPublicUrl } from '../support/providers.ts'
import { sourceOf } from '../support/sources.ts'
import { workOnStatus } from '../support/status.ts'

let service: TestApp
beforeAll(async () => {
  const env = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'inlet', OIDC_CLIENT_SECRET: 'secret' }
  service = await startWithPublicUrl({ env, hasDatabaseClock: true })
})
afterAll(() => service.close())

test('what is received and sent through is counted by kind and state, and for how long it fails', async () => {
  const scrape = async () => {
    await workOnStatus(service)
    const { body } = await service.get('/metrics')
    return {
      count: (kind: string, state: string) => measured(body, 'inlet_pipes', { kind, state }),
      failing: (kind: string) => measured(body, 'inlet_pipe_failing_seconds', { kind }),
      lines: body.split('\n').filter((line: string) => line.startsWith('inlet_pipe_failing_seconds')),
    }
  }
  const before = await scrape()
  expect([before.count('feedback', 'off'), before.count('identity_provider', 'off')]).toEqual([1, 1])
  expect(before.lines).toEqual([])

  const [one, other, unused] = [await sourceOf(service), await sourceOf(service), await sourceOf(service)]
  await one.send('{')
  await workOnStatus(service)
  await passTime(service, 20 * 60_000)
  await one.send('{')
  await other.send({ title: 'One' })
  const failing = await scrape()
  expect(['failing', 'ok', 'off'].map((state) => failing.count('source', state))).toEqual([1, 1, 1])
  expect(Math.round(failing.failing('source') / 60)).toBe(20)

  await one.send({ title: 'Two' })
  await service.delete(`/api/sources/${unused.source.id}`)
  const mended = await scrape()
  expect(['failing', 'ok', 'off'].map((state) => mended.count('source', state))).toEqual([0, 2, 0])
  expect(mended.lines).toEqual([])
})
