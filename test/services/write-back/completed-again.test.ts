import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { settled, writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

test('a task that is completed again after its reopening could not be written has the closing time of the code host', async () => {
  const { id, repository, restrict, written } = await writingBack(service)
  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  const { completedAt } = await settled(service, id)
  expect(completedAt).not.toBeNull()

  restrict({ login: 'inlet-bot', canWriteIssues: false })
  await service.patch(`/api/tasks/${id}`, { status: 'open' })
  expect((await settled(service, id)).writeBack).toMatchObject({ state: 'failed' })

  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  expect(await settled(service, id)).toMatchObject({
    status: 'done',
    completedAt,
    writeBack: { state: 'done', error: null },
  })
  expect(repository.items.get(1)).toMatchObject({ state: 'closed' })
  expect(written().map(([method]) => method)).toEqual(['PATCH', 'PATCH'])
})
