import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { notifyAll } from '../../support/notifications.ts'
import { person, type SignedIn } from '../../support/people.ts'
import { startTwoInstances, type TwoInstances } from '../../support/two-instances.ts'

/* After any history, people were told exactly what concerns them, whoever tells them meanwhile. */

let instances: TwoInstances
let service: TestApp
let second: TestApp
const people: SignedIn[] = []
let inbox: { id: string }
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
  inbox = (await service.given.project()).inbox
  for (let n = 0; n < 3; n++) people.push(await person(service))
})
afterAll(() => instances.close())

const by = fc.nat(2)
const nth = fc.nat(9)
const some = fc.uniqueArray(fc.nat(2), { maxLength: 3 })
const step = fc.oneof(
  fc.record({ do: fc.constant('create' as const), by, some }),
  fc.record({ do: fc.constant('comment' as const), by, nth, some }),
  fc.record({ do: fc.constant('edit' as const), by, nth, some }),
  fc.record({ do: fc.constant('assign' as const), by, nth, some }),
  fc.record({ do: fc.constantFrom('follow' as const, 'unfollow' as const), by, nth }),
  fc.record({ do: fc.constantFrom('read all' as const, 'read one' as const), by }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface TaskModel {
  id: string
  assignees: number[]
  followers: Set<number>
  comments: { id: string; by: number; mentioned: Set<number> }[]
}

/** What people have to be told, by person, task and reason. */
function modelOf() {
  const tasks: TaskModel[] = []
  const expected = new Map<string, number>()
  const tell = (who: number, { task, reason, actor }: { task: TaskModel; reason: string; actor: number }) => {
    if (who === actor) return
    const key = `${people[who]?.id} ${task.id} ${reason}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  const textFor = (some: number[]) => `Text ${some.map((who) => `@${people[who]?.username}`).join(' ')}`
  const usernamesOf = (some: number[]) => some.map((who) => people[who]?.username)

  return { expected, tasks, take }

  function assign(task: TaskModel, { actor, some }: { actor: number; some: number[] }) {
    for (const who of some.filter((each) => !task.assignees.includes(each))) {
      tell(who, { task, reason: 'assigned', actor })
      task.followers.add(who)
    }
    task.assignees = some
  }

  async function take(step: Step): Promise<unknown> {
    const { with: options } = people[step.by] as SignedIn
    if (step.do === 'create') {
      const assignees = usernamesOf(step.some)
      const { body } = await service.post('/api/tasks', { title: 'A', listId: inbox.id, assignees }, options)
      const task: TaskModel = { id: body.id, assignees: [], followers: new Set(), comments: [] }
      assign(task, { actor: step.by, some: step.some })
      task.followers.add(step.by)
      return tasks.push(task)
    }
    if (!('nth' in step)) return read(step)
    const task = tasks[step.nth % tasks.length]
    if (!task) return
    const path = `/api/tasks/${task.id}`
    switch (step.do) {
      case 'comment': {
        const { body } = await service.post(`${path}/comments`, { body: textFor(step.some) }, options)
        for (const who of step.some) tell(who, { task, reason: 'mentioned', actor: step.by })
        for (const who of task.followers)
          if (!step.some.includes(who)) tell(who, { task, reason: 'commented', actor: step.by })
        for (const who of [step.by, ...step.some]) task.followers.add(who)
        return task.comments.push({ id: body.id, by: step.by, mentioned: new Set(step.some) })
      }
      case 'edit': {
        const comment = task.comments.at(-1)
        if (!comment) return
        await notifyAll(service)
        const author = people[comment.by] as SignedIn
        await service.patch(`/api/comments/${comment.id}`, { body: `${textFor(step.some)} ` }, author.with)
        for (const who of step.some.filter((each) => !comment.mentioned.has(each))) {
          comment.mentioned.add(who)
          tell(who, { task, reason: 'mentioned', actor: comment.by })
          task.followers.add(who)
        }
        return
      }
      case 'assign': {
        await service.patch(path, { assignees: usernamesOf(step.some) }, options)
        return assign(task, { actor: step.by, some: step.some })
      }
      case 'follow':
        await notifyAll(service)
        task.followers.add(step.by)
        return service.put(`${path}/follow`, {}, options)
      case 'unfollow':
        await notifyAll(service)
        task.followers.delete(step.by)
        return service.delete(`${path}/follow`, options)
    }
  }
}

async function read(step: Extract<Step, { do: 'read all' | 'read one' }>) {
  if (step.do === 'read all') return second.post('/api/notifications/read', { all: true }, at(step.by))
  const { body } = await second.get('/api/notifications?unread=true&limit=1', at(step.by))
  const ids = body.data.map(({ id }: { id: string }) => id)
  return ids.length > 0 && second.post('/api/notifications/read', { ids }, at(step.by))
}

const at = (nth: number) => (people[nth] as SignedIn).at(second)

test('each person is told each thing once, while two instances tell and people read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const { tasks, expected, take } = modelOf()
      const passes: Promise<unknown>[] = []
      for (const [index, step] of steps.entries()) {
        await take(step)
        if (index % 3 === 0) await service.service.sequencer.catchUp()
        for (const { service: each } of [service, second])
          passes.push(each.notificationFeed.work().catch(() => {}))
        if (index % 2 === 0) await Promise.all(passes)
      }
      await Promise.all(passes)
      await notifyAll(service)
      const rows = await service.query(
        `select user_id, task_id, reason, sum(count)::integer as count, count(*) filter (where read_at is null)::integer as unread
         from notifications where task_id = any($1) group by user_id, task_id, reason`,
        [tasks.map(({ id }) => id)],
      )
      const all = rows.map(({ user_id, task_id, reason, count }) => [
        `${user_id} ${task_id} ${reason}`,
        count,
      ])
      expect(new Map(all as [string, number][])).toEqual(expected)
      expect(rows.filter(({ unread }) => unread > 1)).toEqual([])
    }),
    { numRuns: 25 },
  )
}, 300_000)
