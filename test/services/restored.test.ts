import { afterAll, beforeAll, expect, test } from 'vitest'
import { afterRestore } from '../../src/services/restored.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false })
})
afterAll(() => service.close())

test('the first start after a restore turns write-back off, and sends nothing that waited in the backup', async () => {
  const { id, path, project } = await writingBack(service)
  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  expect((await service.get(`/api/tasks/${id}`)).body.writeBack.state).toBe('pending')

  await afterRestore(service)

  expect((await service.get(path)).body.writeBack).toBe('off')
  expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'done', writeBack: null })
  const { body } = await service.get(`/api/activity?projectId=${project.id}&type=connection.updated`)
  expect(body.data).toMatchObject([
    {
      message: 'Turned off because the database was restored from a backup.',
      actor: { type: 'system', name: 'Inlet' },
      metadata: { changes: { writeBack: { from: 'state', to: 'off' } } },
    },
  ])
})
