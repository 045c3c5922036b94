import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { measured } from '../support/metrics.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

/** How much a metric has changed since the last call, for each value of a label. */
async function changesOf(name: string, { label, values }: { label: string; values: string[] }) {
  const read = async () => (await service.get('/metrics')).body
  const before = await read()
  return async () => {
    const after = await read()
    return values.map(
      (value) => measured(after, name, { [label]: value }) - measured(before, name, { [label]: value }),
    )
  }
}

test('claims count when they are made, renewed, released, and when their lease ends', async () => {
  const outcomes = ['made', 'renewed', 'released', 'expired']
  const { task, claim, next, claimed, key } = await given.project()
  const counted = await changesOf('inlet_claims_total', { label: 'outcome', values: outcomes })

  const [{ id }] = [await claimed(), await task(), await task()]
  await next()
  await next({}, { headers: { 'idempotency-key': 'counted once' } })
  await next({}, { headers: { 'idempotency-key': 'counted once' } })
  expect((await next()).status).toBe(204)
  await claim(id)
  expect(await counted()).toEqual([3, 0, 0, 0])

  await service.post(`/api/tasks/${id}/claim/renew`, { number: 1 }, { key })
  await service.post(`/api/tasks/${id}/claim/renew`, { number: 2 }, { key })
  await given.expire(id)
  await claim(id)
  await service.delete(`/api/tasks/${id}/claim?number=2`, { key })
  await claim(id)
  await given.expire(id)
  await service.service.claims.openExpired()
  expect(await counted()).toEqual([5, 1, 1, 2])
})

test('tasks that are claimed count until the lease ends', async () => {
  const open = async () => measured((await service.get('/metrics')).body, 'inlet_claims_open')
  const { claimed } = await given.project()
  const before = await open()
  const [first] = [await claimed(), await claimed()]
  expect(await open()).toBe(before + 2)
  await given.expire(first.id)
  expect(await open()).toBe(before + 1)
})

test('errors count by their code, over REST and of AI tools', async () => {
  const { claimed, key } = await given.project()
  const { id } = await claimed()
  const client = await connect({ key })
  const codes = ['claim_lost', 'task_claimed', 'task_not_found', 'missing_credentials', 'method_not_allowed']
  const counted = await changesOf('inlet_errors_total', { label: 'code', values: codes })

  await service.patch(`/api/tasks/${id}`, { notes: 'x', claimNumber: 7 })
  await service.get(`/api/tasks/${UNKNOWN_ID}`)
  await service.get('/api/tasks', { key: null })
  await service.call('PUT', `/api/tasks/${id}`)
  await callTool(client, 'update_task', { id, claimNumber: 7, notes: 'x' })
  await callTool(client, 'update_task', { id, notes: 'x' })
  await callTool(client, 'get_task', { id })

  expect(await counted()).toEqual([2, 1, 1, 1, 1])
})
