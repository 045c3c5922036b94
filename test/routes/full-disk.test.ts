import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
  await service.query(`create function refuse() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
  end $$`)
})
afterAll(() => service.close())

test('a full disk is named to who writes, and by /readyz, while reads go on', async () => {
  const { body: task } = await service.post('/api/tasks', { title: 'Before' })
  expect((await service.get('/readyz', { key: null })).body).toEqual({ status: 'ok' })

  await service.query('create trigger full_disk before insert or update on tasks execute function refuse()')
  const detail =
    'The disk of the database is full. Try again once there is space; with an externalId a retry creates no second task.'
  for (const refused of [
    await service.post('/api/tasks', { title: 'Refused' }),
    await service.post('/api/tasks/claim', {}),
    await service.patch(`/api/tasks/${task.id}`, { title: 'Refused' }),
    await service.post('/api/tasks/bulk', { listId: task.listId, tasks: [{ title: 'Refused' }] }),
  ]) {
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable', detail } })
    expect(refused.headers.get('retry-after')).toBe('2')
  }
  expect((await service.get(`/api/tasks/${task.id}`)).status).toBe(200)
  const ready = await service.get('/readyz', { key: null })
  expect([ready.status, ready.body]).toEqual([200, { status: 'ok', unavailable: ['disk'] }])
})
