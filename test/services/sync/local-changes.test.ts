import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { imported } from '../../support/imported.ts'
import { type Syncing, startSyncing, sumOf } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

describe('a sync of tasks that were changed here', () => {
  test('refreshes title, body, labels, assignees and URL; list, priority and notes stay', async () => {
    const { project, repository, sync, task, patch } = await imported(service, (repository) =>
      repository.issue(),
    )
    const list = await service.given.list(project.id)
    await patch({ listId: list.id, priority: 'low', notes: 'Ours.', metadata: { ours: true } })
    repository.change(1, { title: 'New', body: 'new', labels: ['x'], assignees: ['eve'] })
    repository.rename(`acme/renamed-${repository.id}`)

    const run = await sync()
    expect(run).toMatchObject({ fetched: 1, issues: { updated: 1, created: 0 } })
    expect(await task()).toMatchObject({
      title: 'New',
      description: 'new',
      labels: ['x'],
      assignees: ['eve'],
      externalUrl: `https://codehost.example/acme/renamed-${repository.id}/issues/1`,
      listId: list.id,
      priority: 'low',
      notes: 'Ours.',
      metadata: { ours: true },
      version: 3,
    })
  })

  test('applies a `priority:*` label on the first import only', async () => {
    const { repository, sync, task, patch } = await imported(service, (repository) =>
      repository.issue({ labels: ['priority: high'] }),
    )
    expect(await task()).toMatchObject({ priority: 'high', labels: ['priority: high'] })
    await patch({ priority: 'medium' })
    repository.change(1, { labels: ['priority:low'] })
    await sync()
    expect(await task()).toMatchObject({ priority: 'medium', labels: ['priority:low'] })
  })

  test('keeps a local in_progress or done while the item is open', async () => {
    const { repository, sync, task, patch } = await imported(service, (repository) => {
      repository.issue()
      repository.issue()
    })
    await patch({ status: 'in_progress' }, 1)
    await patch({ status: 'done' }, 2)
    repository.change(1, { title: 'New 1' })
    repository.change(2, { title: 'New 2' })
    expect(await sync()).toMatchObject({ issues: { updated: 2, closed: 0, reopened: 0 } })
    expect(await task(1)).toMatchObject({ status: 'in_progress', title: 'New 1' })
    expect(await task(2)).toMatchObject({ status: 'done', title: 'New 2' })
  })

  test('always makes a closed item done', async () => {
    const { project, repository, sync, task } = await imported(service, (repository) =>
      repository.issue({ state: 'closed', stateReason: 'completed' }),
    )
    // As earlier versions allowed.
    await service.query(
      `update tasks set status = 'in_progress', completed_at = null where project_id = $1`,
      [project.id],
    )
    repository.change(1, { body: 'A comment changed it.' })
    expect(await sync()).toMatchObject({ issues: { closed: 1 } })
    expect(await task()).toMatchObject({ status: 'done' })
  })

  test('does not restore a task that was deleted here, also after the cleanup', async () => {
    const { project, repository, sync, first } = await imported(service, (repository) => {
      repository.issue()
      repository.issue()
      repository.issue()
    })
    expect(first.fetched).toBe(3)
    const tasks = await service.tasksOf(project.id)
    for (const number of [1, 2]) await service.delete(`/api/tasks/${tasks.get(number).id}`)
    await service.query("update tasks set deleted_at = now() - interval '31 days' where id = $1", [
      tasks.get(2).id,
    ])
    await service.service.cleanup.cleanUp()
    for (const number of [1, 2, 3]) repository.change(number)

    const run = await sync()
    const reason = 'deleted_here'
    expect(run).toMatchObject({
      fetched: 3,
      skipped: [
        { number: 1, reason },
        { number: 2, reason },
      ],
    })
    expect(sumOf(run)).toBe(3)
    const full = await sync('?mode=full')
    expect(full).toMatchObject({ status: 'completed', fetched: 3 })
    expect(full.skipped).toHaveLength(2)
    const left = await service.tasksOf(project.id)
    expect([...left.keys()]).toEqual([1, 3])
  })

  test('updates a task that was deleted here and restored', async () => {
    const { project, repository, sync } = await imported(service, (repository) => repository.issue())
    const { id } = (await service.tasksOf(project.id)).get(1)
    await service.delete(`/api/tasks/${id}`)
    repository.change(1, { title: 'Closed meanwhile', state: 'closed', stateReason: 'completed' })
    expect(await sync()).toMatchObject({ fetched: 1, skipped: [{ number: 1, reason: 'deleted_here' }] })
    expect((await service.get(`/api/tasks/${id}`)).status).toBe(404)

    expect((await service.post(`/api/tasks/${id}/restore`)).body).toMatchObject({
      title: 'Closed meanwhile',
      status: 'done',
      closedReason: 'completed',
    })
  })

  test('restores what was changed while the repository was disconnected', async () => {
    const { project, repository, task, patch } = await imported(service, (repository) =>
      repository.issue({ title: 'Theirs', labels: ['bug'] }),
    )
    const before = await task()
    await service.delete(`/api/projects/${project.id}/codehost`)
    await patch({ title: 'Ours', labels: [], assignees: ['eve'], notes: 'Kept.' })
    await service.put(`/api/projects/${project.id}/codehost`, {
      repository: repository.name,
      schedule: 'off',
    })
    const refused = await service.patch(`/api/tasks/${before.id}`, { title: 'Ours again' })
    expect(refused).toMatchObject({ status: 403, body: { code: 'managed_by_codehost' } })

    expect(await service.sync(project.id)).toMatchObject({ issues: { updated: 1, created: 0 } })

    const { updatedAt, version, ...same } = before
    expect(await task()).toMatchObject({ ...same, notes: 'Kept.', version: 3 })
  })
})
