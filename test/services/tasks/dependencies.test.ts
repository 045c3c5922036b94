import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse, TestApp } from '../../support/app.ts'
import { startTwoInstances, type TwoInstances } from '../../support/two-instances.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 8)
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)

let instances: TwoInstances
let service: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  service = instances.service
})
afterAll(() => instances.close())

const TASKS = 6

interface Step {
  what:
    | 'block'
    | 'bulk'
    | 'upsert'
    | 'move'
    | 'finish'
    | 'reopen'
    | 'delete'
    | 'restore'
    | 'merge'
    | 'unmerge'
  /** Which of the tasks, and which of them it is blocked by. */
  task: number
  others: number[]
}

const steps = (length: number) =>
  fc.array(
    fc.record<Step>({
      what: fc.constantFrom(
        ...(['block', 'block', 'block', 'block', 'bulk', 'bulk', 'upsert', 'upsert'] as const),
        ...(['move', 'finish', 'reopen', 'delete', 'restore', 'merge', 'unmerge'] as const),
      ),
      task: fc.nat(TASKS - 1),
      others: fc.uniqueArray(fc.nat(TASKS - 1), { maxLength: 3 }),
    }),
    { minLength: 12, maxLength: length },
  )

describe('changes of dependencies in any order', () => {
  test('make no cycle, and tasks ready when nothing blocks them', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps(25), async (history) => {
        const world = await givenWorld()
        for (const step of history) {
          await world.take(step)
          await world.check()
        }
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })

  test('do so at the same time, on two instances', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps(40), async (history) => {
        const world = await givenWorld()
        for (let start = 0; start < history.length; start += 8) {
          await Promise.all(history.slice(start, start + 8).map(world.take))
          await world.check()
        }
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })
})

/** What a step may be refused for. */
const REFUSALS = ['dependency_cycle', 'task_not_found', 'validation_failed', 'merge_conflict']

async function givenWorld() {
  const [here, there] = [await service.given.project(), await service.given.project()]
  const externalId = (n: number) => `task-${n}`
  const { body } = await service.post('/api/tasks/bulk', {
    listId: here.inbox.id,
    tasks: Array.from({ length: TASKS }, (_, n) => ({ title: `Task ${n}`, externalId: externalId(n) })),
  })
  const ids: string[] = body.data.map(({ id }: { id: string }) => id)
  let taken = 0

  function request(app: TestApp, { what, task, others }: Step): Promise<ApiResponse> {
    const id = ids[task] ?? ''
    const blockedBy = others.map((other) => ids[other] ?? '')
    const into = blockedBy[0] ?? id
    const list = taken % 3 === 0 ? there.inbox : here.inbox
    switch (what) {
      case 'block':
        return app.patch(`/api/tasks/${id}`, { blockedBy })
      case 'bulk':
        return app.patch('/api/tasks/bulk', { ids: [id, ids[(task + 1) % TASKS]], change: { blockedBy } })
      case 'upsert':
        return app.post('/api/tasks/bulk?onExisting=update', {
          listId: here.inbox.id,
          tasks: [task, (task + 1) % TASKS].map((n) => ({
            title: 'T',
            externalId: externalId(n),
            blockedBy,
          })),
        })
      case 'move':
        return app.patch(`/api/tasks/${id}`, { listId: list.id })
      case 'finish':
        return app.patch(`/api/tasks/${id}`, { status: 'done' })
      case 'reopen':
        return app.patch(`/api/tasks/${id}`, { status: 'open' })
      case 'delete':
        return app.delete(`/api/tasks/${id}`)
      case 'restore':
        return app.post(`/api/tasks/${id}/restore`)
      case 'merge':
        return app.post(`/api/tasks/${id}/merge`, { into })
      case 'unmerge':
        return app.post(`/api/tasks/${id}/unmerge`)
    }
  }

  return {
    async take(step: Step) {
      const app = taken++ % 2 === 0 ? service : instances.second
      const { status, body } = await request(app, step)
      if (status >= 400) expect([...REFUSALS, 'external_id_taken']).toContain(body.code)
    },

    async check() {
      const rows: Row[] = await service.query(
        `select id, project_id, status, deleted_at, blocked_by from tasks where project_id = any($1)`,
        [[here.id, there.id]],
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      const blockersOf = ({ blocked_by, project_id }: Row) =>
        blocked_by.flatMap((id) => {
          const blocker = byId.get(id)
          return blocker?.project_id === project_id ? [blocker] : []
        })
      for (const row of rows) expect(reachedFrom(row, blockersOf)).not.toContain(row.id)
      const shown = [
        ...(await service.get(`/api/tasks?projectId=${here.id}`)).body.data,
        ...(await service.get(`/api/tasks?projectId=${there.id}`)).body.data,
      ]
      expect(shown.length).toBe(rows.filter(({ deleted_at }) => deleted_at === null).length)
      for (const { id, isReady } of shown) {
        const row = byId.get(id) as Row
        const isBlocked = blockersOf(row).some((each) => each.status !== 'done' && each.deleted_at === null)
        expect([id, isReady]).toEqual([id, row.status === 'open' && !isBlocked])
      }
    },
  }
}

interface Row {
  id: string
  project_id: string
  status: string
  deleted_at: Date | null
  blocked_by: string[]
}

function reachedFrom(start: Row, blockersOf: (row: Row) => Row[]): string[] {
  const reached = new Set<Row>()
  const left = blockersOf(start)
  for (let row = left.pop(); row; row = left.pop()) {
    if (reached.has(row)) continue
    reached.add(row)
    left.push(...blockersOf(row))
  }
  return [...reached].map(({ id }) => id)
}
