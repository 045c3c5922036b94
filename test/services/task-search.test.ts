import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'

let service: TestApp
afterEach(() => service.close())

const index = () => service.service.tasks.indexTexts()

interface Search {
  text: string
  /** Further query parameters, and the condition that they stand for. */
  more?: string
  condition?: string
}

/** All pages of a search, beside what asking every task would find. */
async function search(projectId: string, { text, more = '', condition = '' }: Search) {
  const found: string[] = []
  let cursor = ''
  do {
    const query = `projectId=${projectId}&q=${encodeURIComponent(text)}&limit=3${more}${cursor}`
    const { body } = await service.get(`/api/tasks?${query}`)
    found.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : ''
  } while (cursor)
  const patterns = text.split(' ').map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)
  const asked = await service.query(
    `select id from tasks where project_id = $1 and deleted_at is null ${condition}
     and not exists (select from unnest($2::text[]) as pattern where not (
       title ilike pattern or coalesce(left(description, 1000) ilike pattern, false)
       or coalesce(external_id ilike pattern, false)
       or exists (select from unnest(labels || assignees) as name where name ilike pattern)))`,
    [projectId, patterns],
  )
  return { found: found.toSorted(), asked: asked.map(({ id }) => id).toSorted() }
}

async function expectExact(projectId: string, request: Search) {
  const { found, asked } = await search(projectId, request)
  expect(found).toEqual(asked)
  return found
}

const word = fc.constantFrom(
  'Export',
  'exPORTED',
  'a',
  'ör',
  'ÖRTLICH',
  'жук',
  '東京',
  '10%',
  'snake_case',
  'C:\\t',
)
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '))

const searched = fc.array(word, { minLength: 1, maxLength: 2 }).map((all) => all.join(' '))

describe.each([
  ['that always asks the index', { walk: 0 }],
  ['that looks at some tasks first', { walk: 4 }],
  ['that examines few tasks where no index helps', { walk: 2, examined: 5 }],
])('a search %s', (_, limits) => {
  beforeEach(async () => {
    service = await startApp(limits)
  })

  test('finds exactly the matching tasks after any change, indexed or not', async () => {
    const step = fc.oneof(
      fc.record({ what: fc.constantFrom('create', 'bulk'), text: words }),
      fc.record({
        what: fc.constantFrom(
          'title',
          'description',
          'labels',
          'assignees',
          'done',
          'delete',
          'restore',
          'purge',
          'index',
        ),
        task: fc.nat(50),
        text: words,
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), searched, async (steps, text) => {
        const { id: projectId, inbox } = await service.given.project()
        const ids: string[] = []
        for (const { what, text, ...of } of steps) {
          const id = 'task' in of ? ids[of.task % ids.length] : undefined
          if (what === 'create')
            ids.push((await service.post('/api/tasks', { title: text, listId: inbox.id })).body.id)
          else if (what === 'bulk') {
            const tasks = [
              { title: 'plain', description: text },
              { title: text, externalId: `${text} ${ids.length}` },
            ]
            const { body } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
            ids.push(...body.data.map(({ id }: { id: string }) => id))
          } else if (what === 'index') await index()
          else if (!id) continue
          else if (what === 'title' || what === 'description')
            await service.patch(`/api/tasks/${id}`, { [what]: text })
          else if (what === 'labels' || what === 'assignees')
            await service.patch(`/api/tasks/${id}`, { [what]: text.split(' ') })
          else if (what === 'done') await service.patch(`/api/tasks/${id}`, { status: 'done' })
          else if (what === 'delete') await service.delete(`/api/tasks/${id}`)
          else if (what === 'restore') await service.post(`/api/tasks/${id}/restore`)
          else await service.query('delete from tasks where id = $1', [id])
        }
        await expectExact(projectId, { text })
        await expectExact(projectId, {
          text,
          more: '&status=open&sort=-updatedAt',
          condition: `and status = 'open'`,
        })
        while (await index());
        await expectExact(projectId, { text })
        await expectExact(projectId, { text, more: '&sort=-priority' })
      }),
      { numRuns: 15 },
    )
  })

  test('finds a task by its new text and not by the indexed old one', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const { id } = await service.given.task(inbox, { title: 'Crash', description: 'on start' })
    while (await index());

    await service.patch(`/api/tasks/${id}`, { title: 'Freeze', description: 'on exit' })

    expect(await expectExact(projectId, { text: 'crash' })).toEqual([])
    expect(await expectExact(projectId, { text: 'start' })).toEqual([])
    expect(await expectExact(projectId, { text: 'freeze' })).toEqual([id])
    expect(await expectExact(projectId, { text: 'exit' })).toEqual([id])
  })

  test('finds all matching tasks while texts change and are indexed', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const { id } = await service.given.task(inbox, { title: 'one before' })
    let isWriting = true
    async function write() {
      for (let round = 0; round < 40; round++) {
        await service.patch(`/api/tasks/${id}`, { title: `before ${round}` })
        await service.patch(`/api/tasks/${id}`, { title: `after ${round}` })
        expect(await expectExact(projectId, { text: `after ${round}` })).toEqual([id])
        expect(await expectExact(projectId, { text: `before ${round}` })).toEqual([])
      }
      isWriting = false
    }
    async function indexOn() {
      while (isWriting) await index()
    }

    await Promise.all([write(), indexOn(), indexOn(), indexOn()])

    while (await index());
    expect(await expectExact(projectId, { text: 'after 39' })).toEqual([id])
    expect(await expectExact(projectId, { text: 'before' })).toEqual([])
    expect(await service.query('select from task_text_changes')).toEqual([])
  })

  test('indexes the text of a task once it stops changing, and deletes it with the task', async () => {
    const { inbox } = await service.given.project()
    const { id } = await service.given.task(inbox, {
      title: 'ÄNDERN',
      description: `${'X'.repeat(998)}YZß`,
    })
    const text = () =>
      service.query('select title, beginning, names from task_texts where task_id = $1', [id])

    while (await index());
    const [title, beginning] = ['ändern', `${'x'.repeat(998)}yz`]
    expect(await text()).toEqual([{ title, beginning, names: null }])
    await service.patch(`/api/tasks/${id}`, { labels: ['ÖL', 'b'], assignees: ['Ada'] })
    while (await index());
    expect(await text()).toEqual([{ title, beginning, names: 'öl\u001fb\u001fada' }])
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect(await service.query('select from task_text_changes')).toEqual([])

    await service.query('delete from tasks where id = $1', [id])
    while (await index());
    expect(await text()).toEqual([])
    expect(await service.query('select from task_text_changes')).toEqual([])
  })
})

describe('the text of a task that is deleted permanently', () => {
  beforeEach(async () => {
    service = await startApp()
  })

  test('is deleted also when the indexer has read it and is not done', async () => {
    const { inbox } = await service.given.project()
    const { id } = await service.given.task(inbox)
    const locks = locksOf(service)
    const release = await locks.acquire(`insert into task_texts (task_id, title) values ('${id}', '')`)
    const indexed = service.repos.transaction(
      async ({ taskTexts }) => (await taskTexts.claimIndexing()) && taskTexts.index(10),
    )
    await locks.waiting(1, indexed)

    await service.query('delete from tasks where id = $1', [id])
    await release()
    expect(await indexed).toBe(1)

    while (await index());
    expect(await service.query('select from task_texts')).toEqual([])
  })

  test('does not delay the deletion', async () => {
    const { inbox } = await service.given.project()
    const { id } = await service.given.task(inbox)
    while (await index());
    const release = await locksOf(service).acquire(
      `select from task_texts where task_id = '${id}' for update`,
    )
    try {
      await service.query('delete from tasks where id = $1', [id])
    } finally {
      await release()
    }

    while (await index());
    expect(await service.query('select from task_texts')).toEqual([])
  })
})

test('a search that has read all tasks of its scope does not wait for the texts of the others', async () => {
  service = await startApp({ walk: 4 })
  const { id: projectId, inbox } = await service.given.project()
  const { id } = await service.given.task(inbox, { title: 'Rare' })
  for (const title of ['A', 'B', 'C']) await service.given.task(inbox, { title })
  const other = await service.given.project()
  for (let i = 0; i < 5; i++) await service.given.task(other.inbox)
  const holder = await service.connect()
  try {
    await holder.query('begin; lock table task_texts in access exclusive mode')

    expect(await expectExact(projectId, { text: 'rare' })).toEqual([id])
    expect(await expectExact(projectId, { text: 'nowhere' })).toEqual([])
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})
