import { QueryClient } from '@tanstack/react-query'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Task, TaskListItem } from '../../../src/dashboard/api/queries.ts'
import { rowsIn } from '../../../src/dashboard/api/task-cache.ts'
import { recordsOf } from '../../../src/dashboard/api/task-records.ts'

const IDS = ['a', 'b', 'c']
const FIELDS = ['title', 'status', 'description'] as const
type Field = (typeof FIELDS)[number]

/** What happens next, and which task, field, or request it concerns. */
const STEPS = [
  'others change',
  'others comment',
  'others delete or restore',
  'the user changes',
  'the page reads',
  'the page reads in full',
  'the service gets a request',
  'a response arrives',
  'a request fails',
  'an event arrives',
] as const
const step = fc.record({
  what: fc.constantFrom(...STEPS),
  task: fc.nat(2),
  field: fc.nat(2),
  which: fc.nat(20),
})

test('the page shows what the service says, whatever arrives, fails, and in which order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const world = givenWorld()
      for (const each of steps) {
        world.take(each)
        world.check()
      }
      world.settle()
      world.checkSettled()
    }),
    { numRuns: 1_000 },
  )
})

type Step = { what: (typeof STEPS)[number]; task: number; field: number; which: number }

interface Request {
  /** At the service, which returns the tasks; until then undefined. */
  evaluate(): void
  isEvaluated: boolean
  arrive(): void
  fail(): void
}

/** A service, a page, and what is on its way between them. */
function givenWorld() {
  const records = recordsOf(new QueryClient())
  let time = 0
  let value = 0
  const service = new Map(IDS.map((id) => [id, taskOf(id)]))
  const deleted = new Set<string>()
  /** Of each task, its state at each version. */
  const history = new Map(IDS.map((id) => [id, new Map([[1, taskOf(id)]])]))
  const requests: Request[] = []
  const events: (() => void)[] = []
  /** What the user has changed and waits for, oldest first. */
  const saving: { id: string; field: Field; value: string }[] = []
  const shownVersions = new Map<string, number>()
  /** The last version of each task and field that an event told the page of. */
  const reportedVersions = new Map<string, number>()

  const timestamp = () => new Date(++time).toISOString()
  const stateOf = (id: string) => service.get(id) as Task

  function change(id: string, fields: Partial<Task>) {
    const old = stateOf(id)
    const task = { ...old, ...fields, version: old.version + 1, updatedAt: timestamp() } as Task
    service.set(id, task)
    history.get(id)?.set(task.version, task)
    const { description: _, ...reported } = fields
    events.push(() => {
      if (records.row(id))
        for (const field of Object.keys(reported)) reportedVersions.set(`${id} ${field}`, task.version)
      records.report({ id, changedAt: task.updatedAt, change: reported })
      read([id], { isFull: false })
      // The panel is open.
      read([id], { isFull: true })
    })
  }

  function read(ids: string[], { isFull, isRemoval = false }: { isFull: boolean; isRemoval?: boolean }) {
    const receive = records.request()
    const remove = records.removal()
    let response: (Task | TaskListItem)[] | undefined
    const request: Request = {
      isEvaluated: false,
      evaluate() {
        request.isEvaluated = true
        response = ids
          .filter((id) => !deleted.has(id))
          .map((id) => (isFull ? stateOf(id) : rowOf(stateOf(id))))
      },
      arrive() {
        const tasks = response ?? []
        receive(tasks)
        if (isRemoval) remove(ids.filter((id) => !tasks.some((task) => task.id === id)))
      },
      // It is sent again.
      fail: () => read(ids, { isFull, isRemoval }),
    }
    requests.push(request)
  }

  function save(id: string, field: Field) {
    const entry = { id, field, value: `mine ${++value}` }
    // Changes of one task are sent in their order.
    if (saving.some((other) => other.id === id)) return
    const endPreview = records.preview({ ids: new Set([id]), changeOf: () => ({ [field]: entry.value }) })
    saving.push(entry)
    const receive = records.request()
    let response: Task | undefined
    const end = () => {
      endPreview()
      saving.splice(saving.indexOf(entry), 1)
    }
    const request: Request = {
      isEvaluated: false,
      evaluate() {
        request.isEvaluated = true
        if (deleted.has(id)) return
        change(id, { [field]: entry.value })
        response = stateOf(id)
      },
      arrive() {
        if (response) receive([response])
        end()
      },
      // Its response may be lost after it was saved: events tell of it.
      fail: end,
    }
    requests.push(request)
  }

  const take = ({ what, task, field, which }: Step) => {
    const id = IDS[task] as string
    const name = FIELDS[field] as Field
    const unsent = requests.filter(({ isEvaluated }) => !isEvaluated)
    const sent = requests.filter(({ isEvaluated }) => isEvaluated)
    const finish = (request: Request | undefined, how: 'arrive' | 'fail') => {
      if (!request) return
      requests.splice(requests.indexOf(request), 1)
      request[how]()
    }
    if (what === 'others change' && !deleted.has(id)) change(id, { [name]: `theirs ${++value}` })
    if (what === 'others comment' && !deleted.has(id)) {
      const commentCount = stateOf(id).commentCount + 1
      service.set(id, { ...stateOf(id), commentCount })
      const changedAt = timestamp()
      events.push(() => {
        records.report({ id, changedAt, change: { commentCount } })
        read([id], { isFull: true })
      })
    }
    if (what === 'others delete or restore') {
      if (deleted.delete(id)) change(id, {})
      else {
        deleted.add(id)
        events.push(() => read([id], { isFull: false, isRemoval: true }))
      }
    }
    if (what === 'the user changes' && records.row(id)) save(id, name)
    if (what === 'the page reads') read(IDS, { isFull: false })
    if (what === 'the page reads in full') read([id], { isFull: true })
    if (what === 'the service gets a request') unsent[which % unsent.length]?.evaluate()
    if (what === 'a response arrives') finish(sent[which % sent.length], 'arrive')
    if (what === 'a request fails') finish(requests[which % requests.length], 'fail')
    // The stream has an order.
    if (what === 'an event arrives') events.shift()?.()
  }

  return {
    take,
    /** Lets everything arrive. */
    settle() {
      read(IDS, { isFull: false })
      while (requests.length > 0 || events.length > 0) {
        events.shift()?.()
        // The oldest response is the last to arrive.
        for (const request of requests.splice(0).reverse()) {
          if (!request.isEvaluated) request.evaluate()
          request.arrive()
        }
      }
    },
    /** At any time: nothing older than what was shown, nothing that never was, and all that is being saved. */
    check() {
      for (const id of IDS) {
        const [row, full] = [records.row(id), records.full(id)]
        const versions = history.get(id) as Map<number, Task>
        for (const shown of [row, full]) {
          if (!shown) continue
          for (const field of FIELDS) {
            if (!(field in shown) || field === 'description') continue
            const since = Math.max(shown.version, reportedVersions.get(`${id} ${field}`) ?? 0)
            const possible = [...versions.values()].filter(({ version }) => version >= since)
            const mine = saving.findLast((entry) => entry.id === id && entry.field === field)
            if (mine) expect(shown[field]).toBe(mine.value)
            else expect(possible.map((task) => task[field])).toContain(shown[field])
          }
        }
        if (full && !saving.some((entry) => entry.id === id && entry.field === 'description'))
          expect(full.description).toBe(versions.get(full.version)?.description)
        if (!row) continue
        expect(row.version).toBeGreaterThanOrEqual(shownVersions.get(id) ?? 0)
        shownVersions.set(id, row.version)
      }
      const pages = [IDS, IDS].map((ids) => ({ ids, nextCursor: null }))
      const listed = rowsIn(records, pages).map(({ id }) => id)
      expect(listed).toEqual([...new Set(listed)])
    },
    /** When nothing is on its way, the page shows exactly what the service has. */
    checkSettled() {
      for (const id of IDS) {
        expect(records.row(id)).toEqual(
          deleted.has(id) ? undefined : expect.objectContaining(rowOf(stateOf(id))),
        )
        const full = records.full(id)
        if (full) expect(full).toEqual(stateOf(id))
      }
    },
  }
}

const taskOf = (id: string) =>
  ({
    id,
    title: 'Task',
    status: 'open',
    description: 'Text',
    commentCount: 0,
    version: 1,
    updatedAt: new Date(0).toISOString(),
    metadata: {},
  }) as Partial<Task> as Task

function rowOf({ description: _, metadata: __, ...row }: Task): TaskListItem {
  return row as TaskListItem
}
