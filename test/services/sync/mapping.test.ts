import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { imported } from '../../support/imported.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

describe('the mapping', () => {
  test('makes an issue a task with its text, labels, assignees and URL', async () => {
    const { task, first } = await imported(service, (repository) =>
      repository.issue({
        title: ' Crash ',
        body: 'It **crashes**.',
        labels: ['bug'],
        assignees: ['ada', 'bob'],
      }),
    )
    expect(first).toMatchObject({ status: 'completed', fetched: 1, issues: { created: 1 }, error: null })
    expect(await task()).toMatchObject({
      title: 'Crash',
      description: 'It **crashes**.',
      descriptionReadOnly: true,
      source: 'codehost',
      status: 'open',
      priority: 'medium',
      labels: ['bug'],
      assignees: ['ada', 'bob'],
      externalUrl: expect.stringMatching(/^https:\/\/codehost.example\/acme\/app-\d+\/issues\/1$/),
      codehostIssueNumber: 1,
      codehostPrNumber: null,
      closedReason: null,
      sourceState: 'present',
      createdBy: { type: 'codehost', name: expect.stringMatching(/^acme\/app-/) },
    })
  })

  test('keeps when and by whom an item was opened, and when it was closed, by the clock of the host', async () => {
    const { project, repository, sync, task } = await imported(service, (repository) => {
      const merged = Date.parse('2019-05-02T10:00:00Z')
      repository.pull({
        author: 'bob',
        state: 'closed',
        mergedAt: '2019-05-02T10:00:00Z',
        closedAt: merged,
        createdAt: merged - 60_000,
      })
      repository.pull({ isDraft: true })
      repository.issue({ author: null, createdAt: Date.parse('2008-02-29T00:00:00Z') })
    })
    expect(await task(1)).toMatchObject({
      openedAt: '2019-05-02T09:59:00.000Z',
      completedAt: '2019-05-02T10:00:00.000Z',
      author: { name: 'bob', url: 'https://codehost.example/bob' },
      isDraft: false,
    })
    expect(await task(2)).toMatchObject({ author: { name: 'ada' }, isDraft: true })
    expect(await task(3)).toMatchObject({ openedAt: '2008-02-29T00:00:00.000Z', author: null, isDraft: null })

    repository.change(2, { isDraft: false })
    repository.close(3)
    const closedAt = new Date(service.host.now()).toISOString()
    await sync()
    expect(await task(2)).toMatchObject({ isDraft: false, version: 2 })
    expect(await task(3)).toMatchObject({ completedAt: closedAt })
    const { body } = await service.get(`/api/activity?projectId=${project.id}&type=task.completed`)
    expect(body.data).toMatchObject([{ metadata: { from: 'open', completedAt: closedAt } }])

    // Reopened and closed again before the next poll.
    repository.reopen(3)
    repository.close(3)
    await sync()
    expect((await task(3)).completedAt).toBe(new Date(service.host.now()).toISOString())
  })

  test('fills in what an earlier version did not store with the next full run, without activity', async () => {
    const { project, sync, task } = await imported(service, (repository) => {
      repository.pull({
        state: 'closed',
        mergedAt: '2019-05-02T10:00:00Z',
        closedAt: Date.parse('2019-05-02T10:00:00Z'),
      })
      repository.issue()
    })
    const before = [await task(1), await task(2)]
    await service.query(
      `update tasks set author_name = null, author_url = null, is_draft = null, host_updated_at = null,
        opened_at = created_at, completed_at = case when status = 'done' then created_at end
      where project_id = $1`,
      [project.id],
    )
    const { body: activity } = await service.get(`/api/activity?projectId=${project.id}`)

    const run = await sync('?mode=full')

    expect(run).toMatchObject({
      issues: { unchanged: 1, updated: 0 },
      pullRequests: { unchanged: 1, updated: 0 },
    })
    expect([await task(1), await task(2)]).toEqual(before.map((task) => ({ ...task, version: 2 })))
    const { body } = await service.get(`/api/activity?projectId=${project.id}`)
    expect(body.data.slice(1)).toEqual(activity.data)
    expect(body.data[0].type).toBe('sync.finished')
  })

  test('does not let an older item overwrite a newer one', async () => {
    const { repository, sync, task } = await imported(service, (repository) =>
      repository.issue({ title: 'New' }),
    )
    repository.change(1, { title: 'Old', updatedAt: Date.parse('2020-01-01') })
    expect(await sync('?mode=full')).toMatchObject({ issues: { unchanged: 1 } })
    expect(await task()).toMatchObject({ title: 'New', version: 1 })
  })

  test('tracks a pull request with codehostPrNumber', async () => {
    const { task, first } = await imported(service, (repository) => repository.pull())
    expect(first).toMatchObject({ pullRequests: { created: 1 }, issues: { created: 0 } })
    expect(await task()).toMatchObject({ codehostIssueNumber: null, codehostPrNumber: 1 })
  })

  test.each([
    ['completed', { state: 'closed', stateReason: 'completed' }, 'completed'],
    ['without a reason', { state: 'closed', stateReason: null }, 'completed'],
    ['not planned', { state: 'closed', stateReason: 'not_planned' }, 'not_planned'],
    ['as a duplicate', { state: 'closed', stateReason: 'duplicate' }, 'duplicate'],
    ['merged', { state: 'closed', mergedAt: '2026-01-01T00:00:00Z' }, 'merged'],
    ['unmerged', { state: 'closed', mergedAt: null }, 'closed_unmerged'],
  ] as const)('makes an item that was closed %s done, with the reason', async (_, values, reason) => {
    const { task } = await imported(service, (repository) => repository.issue(values))
    expect(await task()).toMatchObject({
      status: 'done',
      closedReason: reason,
      completedAt: expect.any(String),
    })
  })

  test('makes closed items done, and reopened ones open without a reason', async () => {
    const { repository, sync, task } = await imported(service, (repository) => {
      repository.issue()
      repository.pull()
    })
    repository.close(1, 'not_planned')
    repository.merge(2)
    expect(await sync()).toMatchObject({ issues: { closed: 1 }, pullRequests: { closed: 1 } })
    expect(await task(1)).toMatchObject({ status: 'done', closedReason: 'not_planned' })
    expect(await task(2)).toMatchObject({ status: 'done', closedReason: 'merged' })

    repository.reopen(1)
    const run = await sync()
    expect(run).toMatchObject({ issues: { reopened: 1, updated: 0 } })
    expect(await task(1)).toMatchObject({ status: 'open', closedReason: null, completedAt: null })
  })

  test('keeps the colors of labels, as they were last seen', async () => {
    const label = (name: unknown, color: unknown) => ({ name, color })
    const { project, repository, sync } = await imported(service, (repository) => {
      repository.issue({
        labels: [label('Bug', 'D73A4A'), label('bug', 'd73a4a'), label('ux', 'red'), 'old'],
      })
      repository.issue({ odd: { labels: ['text', label(null, '000000'), label('a\0b', '00ff00'), null] } })
    })
    const colors = async () => {
      const { body } = await service.get(`/api/labels?projectId=${project.id}`)
      return Object.fromEntries(body.data.map(({ name, color }: Record<string, string>) => [name, color]))
    }
    expect(await colors()).toEqual({ Bug: 'd73a4a', ux: null, old: 'ededed', text: null, ab: '00ff00' })

    repository.change(1, { labels: [label('bug', '0000ff')] })
    await sync()
    expect((await colors()).bug ?? (await colors()).Bug).toBe('0000ff')
    const { body } = await service.get(`/api/assignees?projectId=${project.id}`)
    expect(body.data).toEqual([])
  })

  test('adds new tasks to the list of the connection', async () => {
    const { project, repository } = await service.connected()
    const list = await service.given.list(project.id)
    repository.issue()
    const body = { repository: repository.name, listId: list.id, schedule: 'off' }
    expect((await service.put(`/api/projects/${project.id}/codehost`, body)).status).toBe(200)
    await service.sync(project.id)
    expect((await service.tasksOf(project.id)).get(1).list_id).toBe(list.id)
  })

  test('records each change, and the run itself, in the activity', async () => {
    const { project, repository, sync } = await imported(service, (repository) => repository.issue())
    repository.close(1)
    const run = await sync()
    const { body } = await service.get(`/api/activity?projectId=${project.id}`)
    const types = body.data.map(({ type }: { type: string }) => type)
    expect(types).toEqual([
      'sync.finished',
      'task.completed',
      'task.updated',
      'sync.finished',
      'task.created',
      'connection.created',
    ])
    expect(body.data[0]).toMatchObject({
      actor: { type: 'codehost', name: repository.name },
      metadata: { runId: run.id, status: 'completed', fetched: 1, issues: { closed: 1 } },
    })
  })
})

describe('texts of the code host', () => {
  test.each<[string, unknown, string | null]>([
    ['of 262,144 bytes', 'x'.repeat(262_144), 'x'.repeat(262_144)],
    ['longer than that', '😀'.repeat(70_000), '😀'.repeat(65_536)],
    ['null', null, null],
    ['with a NUL', 'a\0b', 'ab'],
    ['with half a surrogate pair', 'a\ud83db', 'a\ufffdb'],
    ['in four bytes', '😀', '😀'],
  ])('a body %s does not fail the run', async (_, body, expected) => {
    const { task, first } = await imported(service, (repository) => repository.issue({ body }))
    expect(first).toMatchObject({ status: 'completed', issues: { created: 1 } })
    expect((await task()).description).toBe(expected)
  })

  test('labels as strings, deleted authors, missing members and unusual titles are accepted', async () => {
    const { task, first } = await imported(service, (repository) => {
      repository.issue({ odd: { labels: ['one', { name: 'two' }, { name: null }, null, 'one'] } })
      repository.issue({ odd: { user: null, assignee: null, assignees: null, title: '\0 ' } })
      repository.issue({ state: 'closed', odd: { pull_request: { url: 'x' } } })
      repository.issue({ title: 'x'.repeat(900), labels: Array.from({ length: 30 }, (_, i) => `label ${i}`) })
    })
    expect(first).toMatchObject({ status: 'completed', fetched: 4 })
    expect((await task(1)).labels).toEqual(['one', 'two'])
    expect(await task(2)).toMatchObject({ title: '#2', assignees: [] })
    expect(await task(3)).toMatchObject({ codehostPrNumber: 3, closedReason: 'closed_unmerged' })
    expect((await task(4)).title).toHaveLength(500)
    expect((await task(4)).labels).toHaveLength(20)
  })
})
