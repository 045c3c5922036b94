import { afterAll, beforeAll, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { listenTo } from '../support/stream.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

test.each(['{', 'null', '7', '[]', '{"from":"x","run":null}', '{"from":"x","runId":"no ID"}', '\u0001'])(
  'a notice that any role of the database can send, %j, ends nothing',
  async (payload) => {
    const stream = await listenTo(service)
    for (const channel of Object.keys(service.service.notices)) {
      await service.query('select pg_notify($1, $2)', [channel, payload])
    }

    const { id } = await service.given.project()
    await service.patch(`/api/projects/${id}`, { name: 'Renamed' })

    await stream.until((events) =>
      events.some(({ event, data }) => event === 'project.changed' && data.projectId === id),
    )
    stream.close()
  },
)
