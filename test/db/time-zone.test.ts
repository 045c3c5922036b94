import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { freshDatabase, withAdmin } from '../support/postgres.ts'

// With half an hour, and with minutes and seconds until 1935; and a day ahead of the former for most of the day.
test.each(['America/St_Johns', 'Pacific/Kiritimati'])(
  'times are the same from a database in the time zone %s',
  async (zone) => {
    const database = await freshDatabase()
    const name = new URL(database.connectionString).pathname.slice(1)
    await withAdmin(database.connectionString, (admin) =>
      admin.query(`alter database ${name} set timezone to '${zone}'`),
    )
    const service = await startApp({ connectionString: database.connectionString })
    const { id, inbox } = await service.given.project()
    // The years 1 and 9999 are others there.
    const times = ['0001-01-01T00:00:00.000Z', '1850-06-01T12:00:00.000Z', '2026-03-08T05:30:00.120Z']
    for (const time of [...times, '9999-12-31T23:59:59.999Z']) {
      await service.given.task(inbox, { source: 'analytics', title: time, openedAt: new Date(time) })
    }

    const list = await service.get(`/api/tasks?projectId=${id}`)
    const before = Date.now()
    for (const task of list.body.data) {
      expect(task.openedAt).toBe(task.title)
      const { body } = await service.patch(`/api/tasks/${task.id}`, { priority: 'high' })
      expect(body.openedAt).toBe(task.title)
      expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(before)
    }
    const since = await service.get(
      `/api/tasks?projectId=${id}&openedSince=1850-06-01T12:00:00Z&sort=openedAt`,
    )
    expect(since.body.data.map(({ title }: { title: string }) => title)).toEqual([
      ...times.slice(1),
      '9999-12-31T23:59:59.999Z',
    ])

    await service.close()
    await database.drop()
  },
)
