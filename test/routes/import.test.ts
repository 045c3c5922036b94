import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { fillEverything } from '../support/exported-data.ts'
import { type ExportLine, exported, importInto, linesIn } from '../support/exports.ts'

let source: TestApp
let service: TestApp
let text: string
let lines: ExportLine[]
let ids: Awaited<ReturnType<typeof fillEverything>>

beforeAll(async () => {
  source = await startApp()
  ids = await fillEverything(source)
  text = await exported(source)
  lines = linesIn(text)
  service = await startApp()
})
afterAll(async () => {
  await source.close()
  await service.close()
})

describe('an import', () => {
  test('into an instance with data is refused, and says what it has', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    const refused = await importInto(service, text)
    expect([refused.status, refused.body.code]).toEqual([409, 'import_not_empty'])
    expect(refused.body.detail).toContain('already has tasks.')
    // A deleted one does not count.
    await service.delete(`/api/tasks/${task.id}`)
    for (const [path, body] of [
      ['/api/projects', { name: 'Another' }],
      ['/api/rules', { content: 'Be kind.' }],
    ] as const) {
      const { body: made } = await service.post(path, body)
      expect((await importInto(service, text)).status).toBe(409)
      // A busy machine may need more than one request for a project.
      await expect.poll(async () => (await service.delete(`${path}/${made.id}`)).status).toBe(404)
    }
    const [inbox] = (await service.get('/api/projects')).body.data
    const { body: key } = await service.post('/api/keys', { name: 'bound', projectId: inbox.id })
    expect((await importInto(service, text)).body.detail).toContain('keys bound to a project')
    await service.query('update api_keys set project_id = null where id = $1', [key.id])
  })

  test('makes a working instance', async () => {
    const { body: feed } = await service.get('/api/changes')
    const imported = await importInto(service, text)
    expect([imported.status, imported.body]).toEqual([200, { counts: lines.at(-1)?.counts }])
    expect((await importInto(service, text)).status).toBe(409)
    const old = await service.get(`/api/changes?cursor=${feed.nextCursor}`)
    expect([old.status, old.body.code]).toEqual([400, 'invalid_cursor'])
    const { body: changes } = await service.get('/api/changes?from=start')
    expect(changes.data.map(({ type }: { type: string }) => type)).toEqual(['task.created'])

    const { body: projects } = await service.get('/api/projects')
    expect(projects.data.find(({ id }: { id: string }) => id === ids.project)).toMatchObject({ openCount: 1 })
    const { body: lists } = await service.get(`/api/projects/${ids.project}/lists`)
    expect(lists.data.find(({ id }: { id: string }) => id === ids.list)).toMatchObject({ openCount: 1 })
    expect((await service.get(`/api/labels?projectId=${ids.project}`)).body.data).toEqual([
      expect.objectContaining({ name: 'bug', openCount: 1 }),
    ])
    const found = await service.get('/api/tasks?q=zebra&includeArchived=true')
    expect(found.body.data).toEqual([expect.objectContaining({ title: 'A zebra report' })])
    const { body: target } = await service.get(`/api/tasks/${ids.target}`)
    expect(target).toMatchObject({ commentCount: 1, reports: 2, version: 1, writeBack: null })
    const { body: trash } = await service.get(`/api/tasks?deleted=true&projectId=${ids.project}`)
    expect(trash.data.map(({ id }: { id: string }) => id)).toEqual([ids.task])
    const { body: activity } = await service.get('/api/activity')
    expect(activity.data.map(({ type }: { type: string }) => type)).toEqual(['task.created'])
    expect((await service.get(`/api/sources/${ids.source}`)).body).toMatchObject({ isActive: false })
    await service.post(`/api/projects/${ids.project}/unarchive`)
    const switchedOn = await service.patch(`/api/sources/${ids.source}`, { isActive: true })
    expect([switchedOn.status, switchedOn.body.code]).toEqual([409, 'source_secret_missing'])
    expect(switchedOn.body.detail).toContain('Rotate the secret')
    await service.post(`/api/projects/${ids.project}/archive`)
    expect((await service.get(`/api/webhooks/${ids.webhook}`)).body).toMatchObject({
      isActive: false,
      disabledReason: 'imported',
    })
    const { body: connection } = await service.get(`/api/projects/${ids.project}/codehost`)
    expect(connection).toMatchObject({ schedule: 'off', writeBack: 'off', hasToken: false })
  })

  test('leaves triggers as they were: later writes are counted and found', async () => {
    const [inbox] = (await service.get('/api/projects')).body.data.filter(
      ({ id }: { id: string }) => id !== ids.project,
    )
    const { body: created } = await service.post('/api/tasks', { title: 'A quokka' })
    expect(created.projectId).toBe(inbox.id)
    expect((await service.get('/api/tasks?q=quokka')).body.data).toHaveLength(1)
    expect((await service.get(`/api/projects/${inbox.id}`)).body.openCount).toBe(1)
  })
})
