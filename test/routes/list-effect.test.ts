import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listEffect } from '../../src/dashboard/tasks/list/list-effect.ts'
import type { Activity } from '../../src/schemas/activity.ts'
import type { Actor, TaskListItem } from '../../src/schemas/task.ts'
import { TaskQuery } from '../../src/schemas/task-query.ts'
import { claiming } from '../support/claims.ts'
import { feedback, storing } from '../support/feedback.ts'
import { filtersOf } from '../support/list-filters.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startSyncing()
  given = claiming(service)
})
afterAll(() => service.close())

/** What was done for each type of activity; each of them has to follow from something here. */
const seenTypes = new Set<string>()

describe('a list follows', () => {
  test.for(Object.entries(changes()))('whatever changes its tasks: %s', async ([_name, prepare]) => {
    const place = await givenPlace()
    const change = await prepare(place)
    const since = new Date().toISOString()
    const before = await tasksByFilter(place)
    const [{ last }] = await service.query('select max(id::text) as last from activity')
    await change()
    const activities = await activitiesAfter(last)
    const after = await tasksByFilter(place)
    for (const { type } of activities) seenTypes.add(type)

    const missed = filtersOf(place).filter((filters, index) => {
      const effects = activities.map((activity) => ({
        ...activity,
        effect: listEffect(activity, filters),
      }))
      const [was, is] = [before[index] ?? new Map(), after[index] ?? new Map()]
      const isFollowed = (id: string) =>
        effects.some(
          ({ effect, type, taskId }) =>
            effect === 'any' ||
            (effect === 'change' && taskId === id && (is.get(id)?.updatedAt ?? since) >= since) ||
            (effect === 'arrival' && !was.has(id) && (is.get(id)?.createdAt ?? '') >= since) ||
            // It leaves every list by itself.
            (type === 'task.deleted' && taskId === id),
        )
      const changed = [...new Set([...was.keys(), ...is.keys()])].filter((id) => was.has(id) !== is.has(id))
      return changed.some((id) => !isFollowed(id))
    })
    expect(missed).toEqual([])
    expect(activities).not.toEqual([])
  })

  test('each type of activity that says that tasks have changed', () => {
    const following = [...seenTypes]
      .filter((type) => listEffect({ type }, { isReady: true }) !== 'none')
      .sort()
    expect(following).toEqual([
      'feedback.received',
      'project.archived',
      'project.unarchived',
      'sync.finished',
      'task.claim_expired',
      'task.claim_released',
      'task.claimed',
      'task.completed',
      'task.created',
      'task.deleted',
      'task.merged',
      'task.reopened',
      'task.restored',
      'task.unmerged',
      'task.updated',
      'task.woken',
    ])
  })

  test('each type of activity that there is, or is known to change no filter of any', () => {
    const notSeen = typesInSource().filter((type) => !seenTypes.has(type) && !CHANGE_NO_FILTER.test(type))
    expect(notSeen).toEqual([])
  })

  test('with each filter that there is', async () => {
    const names = new Set(filtersOf(await givenPlace()).flatMap((filters) => Object.keys(filters)))
    const others = ['sort', 'deleted', 'fields', 'limit', 'cursor', 'count']
    expect([...names, ...others].sort()).toEqual(Object.keys(TaskQuery.properties).sort())
  })
})

/** Counts, what becomes of writes to the code host, the configuration, and lists and projects without any task. */
const CHANGE_NO_FILTER =
  /^(task\.(report|write_back)_|comment\.|connection\.|key\.|list\.(created|updated)|project\.(created|updated|deleted|changed)|routing\.|rule\.|session\.|source\.|sync\.progress|webhook\.)/

function typesInSource(): string[] {
  const families =
    /'((?:task|project|list|feedback|sync|comment|rule|key|routing|connection|session|source|webhook)\.[a-z_]+)'/g
  const types = ['services', 'domain', 'repositories'].flatMap((folder) => {
    const root = new URL(`../../src/${folder}/`, import.meta.url)
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(new URL(file, root), 'utf8').matchAll(families)])
      .map(([, type]) => type as string)
  })
  return [...new Set(types)].sort()
}

test('comments, counts, and the configuration concern no list', () => {
  for (const type of ['comment.created', 'task.report_added', 'list.updated', 'key.created', 'deploy.done'])
    for (const filters of [{}, { isReady: true }, { claimed: false, q: 'word' }])
      expect(listEffect({ type }, filters)).toBe('none')
  expect(listEffect({ type: 'task.report_added' }, { sort: '-reports' })).toBe('any')
})

test('a comment concerns lists of what is to be triaged, unless it comes from the code host', () => {
  const effectOf = (type: Actor['type']) =>
    listEffect({ type: 'comment.created', actor: { type, id: null, name: 'x' } }, { triaged: false })
  expect([effectOf('user'), effectOf('key'), effectOf('codehost')]).toEqual(['any', 'any', 'none'])
})

type Place = Awaited<ReturnType<typeof givenPlace>>
/** Prepares a change, and returns it. */
type Change = (place: Place) => Promise<() => Promise<unknown>>

/** Two projects, the first with two lists. */
async function givenPlace() {
  const project = await given.project()
  const other = await given.project()
  const { body: list } = await service.post(`/api/projects/${project.id}/lists`, { name: 'Second' })
  return { ...project, otherId: other.id, otherInbox: other.inbox, list, start: new Date().toISOString() }
}

async function tasksByFilter(place: Place) {
  const tasks: Map<string, TaskListItem>[] = []
  for (const filters of filtersOf(place)) {
    const search = new URLSearchParams({ fields: 'summary', limit: '200' })
    for (const [name, value] of Object.entries(filters))
      for (const each of [value].flat()) search.append(name, String(each))
    // A list that was deleted is not found.
    const { body } = await service.get(`/api/tasks?${search}`)
    tasks.push(new Map(((body.data ?? []) as TaskListItem[]).map((task) => [task.id, task])))
  }
  return tasks
}

async function activitiesAfter(last: string) {
  const rows = await service.query(
    `select type, task_id as "taskId", json_build_object('type', actor_type) as actor
     from activity where id > $1::uuid order by id`,
    [last],
  )
  return rows as Pick<Activity, 'type' | 'taskId' | 'actor'>[]
}

function changes(): Record<string, Change> {
  const edit =
    (change: object): Change =>
    async ({ task }) => {
      const { id } = await task()
      return () => service.patch(`/api/tasks/${id}`, change)
    }
  /** Of a task that blocks another one. */
  const blocker = async ({ task }: Place) => {
    const { id } = await task()
    await task({ blockedBy: [id] })
    return id as string
  }
  return {
    'a new task':
      async ({ inbox }) =>
      () =>
        service.post('/api/tasks', { title: 'zebra', labels: ['bug'], listId: inbox.id }),
    'a title': edit({ title: 'zebra' }),
    'a priority': edit({ priority: 'high' }),
    labels: edit({ labels: ['bug'] }),
    assignees: edit({ assignees: ['ann'] }),
    'a list': async (place) => {
      const { id } = await place.task()
      return () => service.patch(`/api/tasks/${id}`, { listId: place.list.id })
    },
    'a project': async (place) => {
      const id = await blocker(place)
      return () => service.patch(`/api/tasks/${id}`, { listId: place.otherInbox.id })
    },
    blockers: async ({ task }) => {
      const [{ id }, other] = [await task(), await task()]
      return () => service.patch(`/api/tasks/${id}`, { blockedBy: [other.id] })
    },
    'a blocker that is done': async (place) => {
      const id = await blocker(place)
      return () => service.patch(`/api/tasks/${id}`, { status: 'done' })
    },
    'a blocker that is open again': async (place) => {
      const id = await blocker(place)
      await service.patch(`/api/tasks/${id}`, { status: 'done' })
      return () => service.patch(`/api/tasks/${id}`, { status: 'open' })
    },
    'a blocker that is deleted': async (place) => {
      const id = await blocker(place)
      return () => service.delete(`/api/tasks/${id}`)
    },
    'a blocker that is restored': async (place) => {
      const id = await blocker(place)
      await service.delete(`/api/tasks/${id}`)
      return () => service.post(`/api/tasks/${id}/restore`)
    },
    'a claim': async ({ task, claim }) => {
      const { id } = await task()
      return () => claim(id)
    },
    'a claim that is released': async ({ claimed, key }) => {
      const { id, claim } = await claimed()
      return () => service.delete(`/api/tasks/${id}/claim?number=${claim.number}`, { key })
    },
    'a claim that expires': async ({ claimed }) => {
      const { id } = await claimed()
      return async () => {
        await given.expire(id)
        await service.service.claims.openExpired()
      }
    },
    'a decision about it': async ({ task }) => {
      const { id } = await task({ triaged: false })
      return () => service.patch(`/api/tasks/${id}`, { triaged: true })
    },
    'a snooze': edit({ snoozedUntil: '2100-01-01T00:00:00.000Z' }),
    'a snooze that is over': async ({ task }) => {
      const { id } = await task()
      return async () => {
        await service.query(`update tasks set snoozed_until = now() where id = $1`, [id])
        await service.service.tasks.wake()
      }
    },
    'a question': async ({ task }) => {
      const { id } = await task()
      return () => service.post(`/api/tasks/${id}/comments`, { body: 'Which?', needsAnswer: true })
    },
    'an answer': async ({ task }) => {
      const { id } = await task()
      await service.post(`/api/tasks/${id}/comments`, { body: 'Which?', needsAnswer: true })
      return () => service.post(`/api/tasks/${id}/comments`, { body: 'That.' })
    },
    'a merge of a blocker': async (place) => {
      const [id, target] = [await blocker(place), await place.task()]
      return () => service.post(`/api/tasks/${id}/merge`, { into: target.id })
    },
    'its end': async (place) => {
      const [id, target] = [await blocker(place), await place.task()]
      await service.post(`/api/tasks/${id}/merge`, { into: target.id })
      return () => service.post(`/api/tasks/${id}/unmerge`)
    },
    'an archived project': async (place) => {
      await place.task({ title: 'zebra' })
      return () => service.post(`/api/projects/${place.id}/archive`)
    },
    'a project that is archived no longer': async (place) => {
      await place.task({ title: 'zebra' })
      await service.post(`/api/projects/${place.id}/archive`)
      return () => service.post(`/api/projects/${place.id}/unarchive`)
    },
    'a deleted list': async (place) => {
      await service.given.task(place.list)
      return () => service.delete(`/api/lists/${place.list.id}?moveTo=${place.inbox.id}`)
    },
    feedback: () => storing(service, feedback({ note: 'A zebra crossing' })),
    'the first run over a repository': async () => {
      const { repository, sync } = await service.connected()
      repository.issue({ title: 'zebra', labels: ['bug'], assignees: ['ann'] })
      repository.pull()
      return sync
    },
    'a run over what has changed': async () => {
      const { repository, sync } = await service.connected()
      repository.issue()
      repository.pull()
      await sync()
      repository.change(1, { title: 'zebra', labels: ['bug'], assignees: ['ann'] })
      repository.change(2, { state: 'closed' })
      return sync
    },
    'a comment': async ({ task }) => {
      const { id } = await task({ triaged: false })
      return () => service.post(`/api/tasks/${id}/comments`, { body: 'zebra' })
    },
  }
}
