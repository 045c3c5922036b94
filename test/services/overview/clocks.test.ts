import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Overview } from '../../../src/schemas/overview.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { countAll } from '../../support/overview.ts'
import { freshDatabase, withAdmin } from '../../support/postgres.ts'

const clockAt = (time: string) => ({ ...systemClock(), now: () => new Date(time) })

/** How many tasks were opened and closed in each week; without weeks of zeros. */
async function weeksOf({ get }: TestApp, query: string) {
  const { weeks }: Overview = (await get(`/api/overview?${query}`)).body
  const counts = weeks.map(({ start, opened, closed }) => [start.slice(0, 10), opened.api, closed.other])
  return counts.filter(([_, opened, closed]) => opened || closed)
}

// Both change their clocks, on other days; one has half an hour, and one is a day ahead of it for most of the day.
test.each(['America/St_Johns', 'Pacific/Kiritimati', 'Europe/Berlin'])(
  'weeks across new year and summer time are the same from a database in the time zone %s',
  async (zone) => {
    const { connectionString, drop } = await freshDatabase()
    const name = new URL(connectionString).pathname.slice(1)
    await withAdmin(connectionString, (admin) =>
      admin.query(`alter database ${name} set timezone to '${zone}'`),
    )
    const service = await startApp({ connectionString, clock: clockAt('2027-01-05T12:00:00.000Z') })
    const { id, inbox } = await service.given.project()
    for (const opened of [
      ...['2026-03-08T23:59:59.999Z', '2026-03-09T00:00:00.000Z'],
      ...['2026-03-29T23:59:59.999Z', '2026-03-30T00:00:00.000Z'],
      ...['2026-10-25T23:59:59.999Z', '2026-10-26T00:00:00.000Z'],
      ...['2026-12-27T23:59:59.999Z', '2026-12-28T00:00:00.000Z', '2027-01-01T00:30:00.000Z'],
      ...['2027-01-03T23:59:59.999Z', '2027-01-04T00:00:00.000Z'],
    ]) {
      const openedAt = new Date(opened)
      // A week of 168 hours, whatever the clocks on the wall do.
      const completedAt = new Date(openedAt.getTime() + 7 * 86_400_000)
      await service.given.task(inbox, { openedAt, completedAt, status: 'done' })
    }
    await countAll(service)

    expect(await weeksOf(service, `projectId=${id}&weeks=52`)).toEqual([
      ['2026-03-02', 1, 0],
      ['2026-03-09', 1, 1],
      ['2026-03-16', 0, 1],
      ['2026-03-23', 1, 0],
      ['2026-03-30', 1, 1],
      ['2026-04-06', 0, 1],
      ['2026-10-19', 1, 0],
      ['2026-10-26', 1, 1],
      ['2026-11-02', 0, 1],
      ['2026-12-21', 1, 0],
      ['2026-12-28', 3, 1],
      ['2027-01-04', 1, 3],
    ])
    const { body } = await service.get(`/api/overview?projectId=${id}&weeks=52`)
    expect(body.daysToDone).toEqual({ median: 7, p90: 7 })
    await service.close()
    await drop()
  },
)

test('instances whose clocks differ count the same, and show the weeks until their own', async () => {
  // Neither is the time of the database.
  const behind = await startApp({ clock: clockAt('2026-11-29T23:50:00.000Z') })
  const { connectionString } = behind
  const ahead = await startApp({ connectionString, clock: clockAt('2026-11-30T00:10:00.000Z') })
  const { id, inbox } = await behind.given.project()
  const [first, second] = await Promise.all(
    [behind, ahead].map((service) => service.post('/api/tasks', { title: 'A', listId: inbox.id })),
  )
  // Closed by the one whose clock is behind, before it was opened.
  await behind.patch(`/api/tasks/${second?.body.id}`, { status: 'done' }, { key: ahead.adminKey })
  await countAll(ahead)

  expect(await weeksOf(behind, `projectId=${id}`)).toEqual([['2026-11-23', 1, 1]])
  expect(await weeksOf(ahead, `projectId=${id}`)).toEqual([
    ['2026-11-23', 1, 1],
    ['2026-11-30', 1, 0],
  ])
  const { body } = await ahead.get(`/api/overview?projectId=${id}`)
  expect(body).toMatchObject({ oldestOpenAt: first?.body.openedAt, daysToDone: { median: 0, p90: 0 } })
  await ahead.close()
  await behind.close()
})
