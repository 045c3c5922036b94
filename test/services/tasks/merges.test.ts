import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery } from '../../../src/schemas/delivery.ts'
import type { TestApp } from '../../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../../support/feedback.ts'
import { deliver as deliverTo, sourceOf } from '../../support/sources.ts'
import { startTwoInstances, type TwoInstances } from '../../support/two-instances.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 8)
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)

let instances: TwoInstances
let service: TestApp
beforeAll(async () => {
  instances = await startTwoInstances({ env: { WEBHOOK_SECRET } })
  service = instances.service
})
afterAll(() => instances.close())

interface Step {
  what: 'merge' | 'unmerge' | 'edit' | 'bulk' | 'move' | 'delete' | 'restore' | 'deliver' | 'send'
  /** Which of the tasks there are, counted around. */
  task: number
  into: number
}

const steps = (length: number) =>
  fc.array(
    fc.record<Step>({
      what: fc.constantFrom(
        ...(['merge', 'merge', 'merge', 'unmerge', 'edit', 'bulk', 'move'] as const),
        ...(['delete', 'restore', 'deliver', 'send', 'send'] as const),
      ),
      task: fc.nat(7),
      into: fc.nat(7),
    }),
    { minLength: 12, maxLength: length },
  )

describe('merges, edits, deletions, and deliveries in any order', () => {
  test('leave every delivery reachable and every count right', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps(25), async (history) => {
        const world = await givenWorld()
        for (const step of history) await world.take(step)
        await world.check()
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })

  test('do so at the same time, on two instances', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps(24), async (history) => {
        const world = await givenWorld()
        for (let start = 0; start < history.length; start += 8)
          await Promise.all(history.slice(start, start + 8).map(world.take))
        await world.check()
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })
})

/** Grouped with equal ones. */
const noteOf = (n: number) => `A note about problem ${n}`

async function givenWorld() {
  const [project, other] = [
    await service.given.project({ groupFeedback: 'auto' }),
    await service.given.project(),
  ]
  const ids: string[] = []
  const deliveries: { deliveryId: string; taskId: string }[] = []
  const received: { deliveryId: string; taskId: string }[] = []
  const senders = [sender(service.url, WEBHOOK_SECRET), sender(instances.second.url, WEBHOOK_SECRET)]
  let taken = 0

  async function deliver(app: number, note: string) {
    const { status, body } = await (senders[app] as (typeof senders)[number])(
      feedback({ note, project_id: project.id }),
    )
    expect(status).toBe(201)
    deliveries.push(body)
    ids.push(body.taskId)
  }

  const sent = await sourceOf(service, {
    projectId: project.id,
    verify: { scheme: 'bearer' },
    template: { externalId: '{{ item.id }}', status: '{{ item.state }}', priority: '{{ item.priority }}' },
  })

  /** From a source: creates a task, changes its priority, or reopens it. */
  async function send(app: number, { task, into }: Pick<Step, 'task' | 'into'>) {
    const change = task % 2 ? { state: 'open' } : { priority: ['low', 'medium', 'high'][task % 3] }
    const { status, body } = await deliverTo(app === 0 ? service : instances.second, {
      source: sent.source,
      payload: { title: 'Sent', id: into % 3, ...change },
      headers: { 'idempotency-key': randomUUID() },
    })
    expect([200, 201], JSON.stringify(body)).toContain(status)
    received.push(body)
    if (status === 201) ids.push(body.taskId)
  }
  for (let n = 0; n < 4; n++) await deliver(n % 2, noteOf(n))
  await send(0, { task: 1, into: 0 })

  return {
    async take({ what, task, into }: Step) {
      const which = taken++ % 2
      const app = which === 0 ? service : instances.second
      const id = ids[task % ids.length] ?? ''
      const path = `/api/tasks/${id}`
      const target = ids[into % ids.length] ?? ''
      const list = into % 2 ? other.inbox.id : project.inbox.id
      const status = into % 2 ? 'in_progress' : 'done'
      if (what === 'deliver') return deliver(which, noteOf(into))
      if (what === 'send') return send(which, { task, into })
      const requests = {
        merge: () => app.post(`${path}/merge`, { into: target }),
        unmerge: () => app.post(`${path}/unmerge`),
        edit: () => app.patch(path, { status }),
        bulk: () => app.patch('/api/tasks/bulk', { ids: [...new Set([id, target])], change: { status } }),
        move: () => app.patch(path, { listId: list }),
        delete: () => app.delete(path),
        restore: () => app.post(`${path}/restore`),
      }
      const response = await requests[what]()
      expect([200, 204, 404, 409], JSON.stringify(response.body)).toContain(response.status)
      // The external ID of a task that is deleted or elsewhere is free for the next delivery.
      if (response.status === 409)
        expect(['merge_conflict', 'external_id_taken']).toContain(response.body.code)
    },

    async check() {
      const rows = await service.query(
        `select id, project_id, status, merged_into, status_before_merge, report_count, deleted_at is not null as is_deleted,
           version, (select count(*)::int from tasks as reports
             where reports.merged_into = tasks.id and reports.deleted_at is null) as counted,
           (select count(*)::int from activity where task_id = tasks.id and type not like 'task.report%'
             and type not in ('feedback.received', 'task.unmerged')
             and not (type = 'task.merged' and actor_type = 'analytics')) as changes,
           (select count(*)::int from activity where task_id = tasks.id and type = 'task.unmerged') as unmerges
         from tasks where project_id = any($1)`,
        [[project.id, other.id]],
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const row of rows) {
        expect(row.report_count).toBe(row.counted)
        // A restore that unmerges is one change with two activities. What the source sends for a merged task may change
        // its status before the merge, without an activity.
        const updates = received.filter(({ taskId }) => taskId === row.id).length
        expect(row.version).toBeGreaterThanOrEqual(row.changes)
        expect(row.version).toBeLessThanOrEqual(row.changes + row.unmerges + updates)
        expect(row.status_before_merge === null).toBe(row.merged_into === null)
        if (row.is_deleted) continue
        const { body } = await service.get(`/api/tasks/${row.id}`)
        expect(body.reports).toBe(row.counted + 1)
        if (row.merged_into === null) continue
        // A report is one click away: its target is there, in its project, and no report itself.
        expect(row.status).toBe('done')
        expect(byId.get(row.merged_into)).toMatchObject({
          is_deleted: false,
          merged_into: null,
          project_id: row.project_id,
        })
        const reports = await service.get(`/api/tasks/${row.merged_into}/reports`)
        expect(reports.body.data.map(({ id }: { id: string }) => id)).toContain(row.id)
      }
      for (const { deliveryId, taskId } of deliveries) {
        expect((await service.get(`/api/deliveries/${deliveryId}`)).body.tasks[0].taskId).toBe(taskId)
        expect(byId.has(taskId)).toBe(true)
      }
      const stored = await service.get(`/api/deliveries?sourceId=${sent.source.id}&limit=200`)
      const taskOfEvent = new Map(
        stored.body.data.map(({ id, tasks }: Delivery) => [id, tasks[0]?.taskId] as const),
      )
      for (const { deliveryId, taskId } of received) {
        expect(taskOfEvent.get(deliveryId)).toBe(taskId)
        expect(byId.has(taskId)).toBe(true)
      }
    },
  }
}
