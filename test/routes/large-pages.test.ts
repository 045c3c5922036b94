import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const MIB = 1024 * 1024
const COUNT = 40
/** More than any item of these tests. */
const MAX_ITEM_BYTES = 400_000

let service: TestApp
let projectId: string
beforeAll(async () => {
  service = await startApp()
  projectId = await givenLargeTasks()
})
afterAll(() => service.close())

/** About 5 MB. */
async function givenLargeTasks(): Promise<string> {
  const { id, inbox } = await service.given.project()
  for (let i = 0; i < COUNT; i++) {
    await service.given.task(inbox, {
      title: `Task ${i}`,
      description: i % 5 === 0 ? null : `${i} ü😀`.repeat(8_000),
      notes: i % 7 === 0 ? 'n'.repeat(60_000) : null,
      metadata: { i },
    })
  }
  return id
}

interface Item {
  id: string
}
interface Page {
  data: Item[]
  nextCursor: string | null
}

const bytesOf = (items: object[]) =>
  items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0)

/** Follows the cursors to the end. */
async function pagesOf(path: string, between = async () => {}): Promise<Page[]> {
  const pages: Page[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null) {
    const { status, body } = await service.get(path + (cursor && `&cursor=${cursor}`))
    expect(status).toBe(200)
    pages.push(body)
    await between()
  }
  return pages
}

const itemsOf = (pages: Page[]) => pages.flatMap(({ data }) => data)
const idsOf = (items: Item[]) => items.map(({ id }) => id)

function expectEndingBySize(pages: Page[]) {
  expect(pages.length).toBeGreaterThan(2)
  for (const { data } of pages.slice(0, -1)) {
    const bytes = bytesOf(data)
    expect(bytes).toBeGreaterThanOrEqual(MIB)
    expect(bytes).toBeLessThan(MIB + MAX_ITEM_BYTES)
  }
}

describe('a page of large tasks ends once they have 1 MiB, and its cursor goes on', () => {
  test.each(['-createdAt', 'createdAt', '-updatedAt', '-priority', '-reports', '-openedAt'])(
    'sorted by %s, the pages together have every task once, the same as alone',
    async (sort) => {
      const path = `/api/tasks?projectId=${projectId}&sort=${sort}`
      const pages = await pagesOf(`${path}&limit=200`)
      expectEndingBySize(pages)
      expect(Object.keys(pages[0] ?? {})).toEqual(['data', 'nextCursor'])
      const single = await pagesOf(`${path}&limit=1`)
      expect(single).toHaveLength(COUNT)
      expect(itemsOf(pages)).toEqual(itemsOf(single))
    },
  )

  test.each(['q=Task', 'status=open', 'q=ta'])('filtered by %s, too', async (filter) => {
    const pages = await pagesOf(`/api/tasks?projectId=${projectId}&${filter}&limit=200`)
    expectEndingBySize(pages)
    for (const task of itemsOf(pages).slice(0, 3))
      expect(task).toEqual((await service.get(`/api/tasks/${task.id}`)).body)
    expect(new Set(idsOf(itemsOf(pages))).size).toBe(COUNT)
  })

  test('and not earlier: summaries are small', async () => {
    const { body } = await service.get(`/api/tasks?projectId=${projectId}&fields=summary&limit=${COUNT}`)
    expect([body.data.length, body.nextCursor]).toEqual([COUNT, null])
  })

  test('in the trash and among reports', async () => {
    const id = await givenLargeTasks()
    await service.query('update tasks set deleted_at = now() where project_id = $1', [id])
    const trash = await pagesOf(`/api/tasks?projectId=${id}&deleted=true&limit=200`)
    expectEndingBySize(trash)
    expect(new Set(idsOf(itemsOf(trash))).size).toBe(COUNT)
    const [target] = idsOf(itemsOf(trash))
    await service.query(
      `update tasks set deleted_at = null, merged_into = nullif($2::uuid, id),
         status = case when id = $2 then 'open' else 'done' end,
         completed_at = case when id <> $2 then now() end where project_id = $1`,
      [id, target],
    )
    const reports = await pagesOf(`/api/tasks/${target}/reports?limit=200`)
    expectEndingBySize(reports)
    expect(new Set(idsOf(itemsOf(reports))).size).toBe(COUNT - 1)
  })

  test('while tasks are edited and created, none is missed or repeated', async () => {
    const id = await givenLargeTasks()
    const before = idsOf(itemsOf(await pagesOf(`/api/tasks?projectId=${id}&fields=summary`)))
    const { listId } = (await service.get(`/api/tasks/${before[0]}`)).body
    let round = 0
    const pages = await pagesOf(`/api/tasks?projectId=${id}&limit=200`, async () => {
      const other = before[(round++ * 13) % COUNT]
      const notes = 'ö'.repeat(round % 2 ? 60_000 : 0)
      await Promise.all([
        service.patch(`/api/tasks/${other}`, { notes }),
        service.patch(`/api/tasks/${before.at(-round)}`, { notes, title: `Edited ${round}` }),
        service.post('/api/tasks', { title: 'New', listId }),
      ])
    })
    expect(pages.length).toBeGreaterThan(2)
    expect(idsOf(itemsOf(pages))).toEqual(before)
  })

  test('has one task that alone is larger', async () => {
    const { id, inbox } = await service.given.project()
    for (let i = 0; i < 3; i++) {
      const description = '\u{1f600}'.repeat(65_536)
      await service.given.task(inbox, {
        description,
        notes: description,
        metadata: { a: 'x'.repeat(16_000) },
      })
    }
    // Its size is that of its texts: in JSON, some characters are longer.
    await service.query(`update tasks set description = repeat(chr(1), 1200000) where project_id = $1`, [id])
    const pages = await pagesOf(`/api/tasks?projectId=${id}&limit=200`)
    expect(pages.map(({ data }) => data.length)).toEqual([1, 1, 1])
  })
})

describe('so does one of', () => {
  test('comments', async () => {
    const { inbox } = await service.given.project()
    const { id } = await service.given.task(inbox)
    for (let i = 0; i < 25; i++)
      await service.post(`/api/tasks/${id}/comments`, { body: `${i} ${'ü'.repeat(65_000)}` })
    for (const sort of ['createdAt', '-createdAt']) {
      const pages = await pagesOf(`/api/tasks/${id}/comments?sort=${sort}&limit=200`)
      expectEndingBySize(pages)
      const single = await pagesOf(`/api/tasks/${id}/comments?sort=${sort}&limit=1`)
      expect(itemsOf(pages)).toEqual(itemsOf(single))
      expect(single).toHaveLength(25)
    }
  })

  test('activity', async () => {
    const { id } = await service.given.project()
    for (let i = 0; i < 120; i++)
      await service.given.activity({ projectId: id, type: 'large', message: `${i} ${'x'.repeat(30_000)}` })
    const path = `/api/activity?projectId=${id}&type=large`
    const pages = await pagesOf(`${path}&limit=200`)
    expectEndingBySize(pages)
    const single = await pagesOf(`${path}&limit=7`)
    expect(itemsOf(pages)).toEqual(itemsOf(single))
    const messages = itemsOf(pages).map((item) =>
      Number.parseInt((item as Item & { message: string }).message, 10),
    )
    expect(messages).toEqual(Array.from({ length: 120 }, (_, i) => 119 - i))
  })

  test('versions of a rule', async () => {
    const { body: rule } = await service.post('/api/rules', { content: 'First' })
    for (let i = 0; i < 50; i++)
      await service.patch(`/api/rules/${rule.id}`, { content: `${i} ${'😀'.repeat(7_900)}` })
    const pages = await pagesOf(`/api/rules/${rule.id}/versions?limit=200`)
    const versions = itemsOf(pages).map((item) => (item as Item & { version: number }).version)
    expect(versions).toEqual(Array.from({ length: 51 }, (_, i) => 51 - i))
    expect(pages).toHaveLength(2)
  })

  test('small ones that fit does not', async () => {
    const { id } = await service.given.project()
    for (let i = 0; i < 120; i++)
      await service.given.activity({ projectId: id, type: 'small', message: String(i) })
    for (const [limit, length, isLast] of [
      [110, 110, false],
      [120, 120, true],
      [200, 120, true],
    ] as const) {
      const { body } = await service.get(`/api/activity?projectId=${id}&type=small&limit=${limit}`)
      expect([body.data.length, body.nextCursor === null]).toEqual([length, isLast])
    }
  })

  test('changes with their tasks', async () => {
    const id = await givenLargeTasks()
    const tasks = idsOf(itemsOf(await pagesOf(`/api/tasks?projectId=${id}&fields=summary`)))
    for (const taskId of tasks) await service.patch(`/api/tasks/${taskId}`, { title: 'Changed' })
    const changes: { id: string; task: object }[] = []
    let pages = 0
    for (let cursor = 'from=start', hasMore = true; hasMore; pages++) {
      const { body } = await service.get(`/api/changes?projectId=${id}&include=task&limit=200&${cursor}`)
      if (body.hasMore) expect(bytesOf(body.data)).toBeLessThan(MIB + MAX_ITEM_BYTES)
      changes.push(...body.data)
      ;({ hasMore } = body)
      cursor = `cursor=${body.nextCursor}`
    }
    expect(pages).toBeGreaterThan(2)
    expect(changes).toHaveLength(COUNT)
    for (const { task } of changes) expect(task).toMatchObject({ title: 'Changed' })
  })
})
