import { describe, expect, test } from 'vitest'
import { Problem } from '../../../../src/dashboard/api/problem.ts'
import { batchesOf, type Change, sendBatches, type Task } from '../../../../src/dashboard/tasks/edits/bulk.ts'

describe('a bulk edit', () => {
  test('sends six requests of 100 ids for 600 rows', () => {
    const batches = batchesOf(rows(600), () => ({ priority: 'high' }))
    expect(batches.map(({ items }) => items.length)).toEqual(Array(6).fill(100))
    expect(new Set(batches.flatMap(({ items }) => items.map(({ id }) => id))).size).toBe(600)
  })

  test('puts rows into one request only if they get the same values', () => {
    const values = ['low', 'medium', 'high'] as const
    const batches = batchesOf(rows(7), ({ id }) => ({ priority: values[Number(id) % 3] ?? 'low' }))
    expect(batches.map(({ change, items }) => [change.priority, items.map(({ id }) => id)])).toEqual([
      ['low', ['0', '3', '6']],
      ['medium', ['1', '4']],
      ['high', ['2', '5']],
    ])
  })

  test('leaves out rows named in an error and changes the rest', async () => {
    const service = serviceThat((ids) => rejecting(ids, ['3', '5']))
    const { done, failures } = await sendBatches(batchesOf(rows(8), markDone), service)
    expect(done.map(({ id }) => id)).toEqual(['0', '1', '2', '4', '6', '7'])
    expect(failures.map(({ item, problem }) => [item.id, problem.message])).toEqual([
      ['3', 'No task 3.'],
      ['5', 'No task 5.'],
    ])
    expect(service.requests).toHaveLength(2)
  })

  test('continues with the next batch once all rows of a batch were rejected', async () => {
    const service = serviceThat((ids) => rejecting(ids, [...Array(100).keys()].map(String)))
    const { done, failures } = await sendBatches(batchesOf(rows(101), markDone), service)
    expect([done.length, failures.length, service.requests.length]).toEqual([1, 100, 2])
  })

  test('reports an error that names no row for the whole batch', async () => {
    const service = serviceThat((ids) =>
      ids.includes('0') ? new Problem(409, { detail: 'The project is archived.' }) : undefined,
    )
    const { done, failures } = await sendBatches(batchesOf(rows(150), markDone), service)
    expect([done.length, failures.length]).toEqual([50, 100])
    expect(failures[0]?.problem.message).toBe('The project is archived.')
  })

  test('waits for a rate limit as often as needed and reports the number of waiting rows', async () => {
    let rejectedIds = 0
    const service = serviceThat(() =>
      rejectedIds++ < 5 ? new Problem(429, { retryAfterSeconds: 7 }) : undefined,
    )
    const { done } = await sendBatches(batchesOf(rows(250), markDone), service)
    expect(done).toHaveLength(250)
    expect(service.waits).toEqual(Array(5).fill([429, 250]))
  })

  test('retries after a network error and then sends nothing more', async () => {
    const service = serviceThat((ids) => (ids.includes('150') ? new Problem(0, {}) : undefined))
    const { done, failures } = await sendBatches(batchesOf(rows(400), markDone), service)
    expect(done).toHaveLength(100)
    expect(failures.map(({ item }) => item.id)).toEqual(
      rows(400)
        .slice(100)
        .map(({ id }) => id),
    )
    expect(service.requests.map((ids) => ids[0])).toEqual(['0', '100', '100', '100'])
  })

  test('stops immediately when the session has ended', async () => {
    const service = serviceThat(() => new Problem(401, {}))
    const { failures } = await sendBatches(batchesOf(rows(300), markDone), service)
    expect([failures.length, service.requests.length]).toEqual([300, 1])
  })
})

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }))
const markDone = (): Change => ({ status: 'done' })

/** The service as far as a bulk edit sees it: all of a request, or none of it. */
function serviceThat(rejectFor: (ids: string[]) => Problem | undefined) {
  const requests: string[][] = []
  const waits: [number, number][] = []
  return {
    requests,
    waits,
    async send(ids: string[], change: Change) {
      requests.push(ids)
      const problem = rejectFor(ids)
      if (problem) throw problem
      return ids.map((id) => ({ id, ...change }) as Task)
    },
    async wait({ status }: Problem, count: number) {
      waits.push([status, count])
    },
  }
}

function rejecting(ids: string[], rejectedIds: string[]): Problem | undefined {
  const errors = ids.flatMap((id, index) =>
    rejectedIds.includes(id)
      ? { path: `/ids/${index}`, code: 'task_not_found', message: `No task ${id}.` }
      : [],
  )
  return errors.length > 0 ? new Problem(404, { code: 'task_not_found', errors }) : undefined
}
