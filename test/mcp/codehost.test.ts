import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { settled, writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

test('an assistant sees of a pull request who opened it there and when, and what became of it', async () => {
  const { project, repository, sync } = await service.connected()
  const opened = Date.parse('2019-05-01T10:00:00Z')
  const closed = Date.parse('2019-05-02T10:00:00Z')
  repository.pull({
    author: 'bob',
    createdAt: opened,
    state: 'closed',
    mergedAt: '2019-05-02T10:00:00Z',
    closedAt: closed,
  })
  repository.pull({ author: 'eve', createdAt: opened, isDraft: true })
  await sync()
  const tasks = await service.tasksOf(project.id)
  const client = await connect({ key: service.adminKey })
  const merged = {
    codehostPrNumber: 1,
    status: 'done',
    closedReason: 'merged',
    author: { name: 'bob', url: 'https://codehost.example/bob' },
    isDraft: false,
    openedAt: '2019-05-01T10:00:00.000Z',
    completedAt: '2019-05-02T10:00:00.000Z',
  }
  const draft = {
    codehostPrNumber: 2,
    author: { name: 'eve', url: 'https://codehost.example/eve' },
    isDraft: true,
    openedAt: merged.openedAt,
  }

  for (const expected of [merged, draft]) {
    const { id } = tasks.get(expected.codehostPrNumber)
    expect((await callTool(client, 'get_task', { id })).data).toMatchObject({ id, ...expected })
  }
  const { body } = await service.get(`/api/context?projectId=${project.id}`)
  expect(body.tasks.recent).toEqual(
    expect.arrayContaining([merged, draft].map((task) => expect.objectContaining(task))),
  )
})

test('a public comment of an assistant is posted to the code host', async () => {
  const { id, repository } = await writingBack(service, [{}], { writeBack: 'comments' })
  const client = await connect({ key: service.adminKey })
  await callTool(client, 'add_comment', { id, body: 'Fixed in 2.3.2.', isPublic: true })
  await settled(service, id)
  expect([...repository.comments.values()].map(({ body }) => body)).toEqual([
    expect.stringMatching(/wrote in Inlet:\n\nFixed in 2\.3\.2\.$/),
  ])
})
