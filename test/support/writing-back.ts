import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { HostToken } from './code-host.ts'
import type { Syncing } from './syncing.ts'

/** A project that writes back with a token of its own, which has limits of its own, with one task for each item. */
export async function writingBack(service: Syncing, items: object[] = [{}], connection: object = {}) {
  const token = randomUUID()
  service.host.tokens.set(token, { login: 'inlet-bot' })
  const { project, repository, sync } = await service.connected({
    token,
    writeBack: 'state',
    ...connection,
  })
  for (const item of items) repository.issue(item)
  await sync()
  const tasks = [...(await service.tasksOf(project.id)).values()]
  const path = `/api/projects/${project.id}/codehost`
  return {
    project,
    repository,
    sync,
    path,
    token,
    /** Changes what the token may do. */
    restrict: (permissions: HostToken) => service.host.tokens.set(token, permissions),
    ids: tasks.map(({ id }) => id as string),
    id: tasks[0]?.id as string,
    set: (change: object) => service.put(path, { repository: repository.name, ...change }),
    /** What was written to this repository, in order. */
    written: () =>
      service.host.requests
        .filter(({ method, url }) => method !== 'GET' && url.includes(`/repositories/${repository.id}/`))
        .map(({ method, url, body }) => [method, url.replace(/^\/repositories\/\d+/, ''), body]),
  }
}

/** A project that writes comments back and brings them in, with one task for each item. */
export async function writingComments(service: Syncing, items?: object[], connection: object = {}) {
  const project = await writingBack(service, items, { writeBack: 'comments', comments: true, ...connection })
  const { id, repository } = project
  const comments = `/api/tasks/${id}/comments`
  return {
    ...project,
    post: async (body: string, isPublic = true) => (await service.post(comments, { body, isPublic })).body,
    listed: async () => (await service.get(comments)).body.data,
    /** The comments at the code host. */
    posted: () => [...repository.comments.values()].map(({ number, body }) => ({ number, body })),
    done: () => settled(service, id),
    types: async () =>
      (await service.get(`/api/activity?taskId=${id}`)).body.data.map(({ type }: { type: string }) => type),
  }
}

/** For what workers do in the background: a busy machine may need long. */
export const POLLING = { timeout: 20_000, interval: 25 }

/** Resolves when every delivery that a project has received is applied. */
export const applied = (service: Syncing, projectId: string) =>
  vi.waitFor(async () => {
    const { body } = await service.get(`/api/deliveries?projectId=${projectId}&outcome=pending`)
    expect(body.data).toEqual([])
  }, POLLING)

/** Resolves when a task waits for the next attempt to write it. */
export const attempted = (service: Syncing, id: string) =>
  vi.waitFor(async () => {
    const { body } = await service.get(`/api/tasks/${id}`)
    expect(body.writeBack.error).toMatchObject({ code: 'codehost_unreachable' })
  }, POLLING)

/** Resolves when nothing of a task waits for being written; returns the task. */
export const settled = (service: Syncing, id: string) =>
  vi.waitFor(async () => {
    const { body } = await service.get(`/api/tasks/${id}`)
    expect(body.writeBack.state).not.toBe('pending')
    return body
  }, POLLING)
