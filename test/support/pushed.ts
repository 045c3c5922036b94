import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import { deliver, type HostDelivery, type HostWebhook, itemDelivery } from './code-host-deliveries.ts'
import type { HostItem } from './code-host-items.ts'
import type { Syncing } from './syncing.ts'

let repositories = 0

/** A project that only deliveries change: nothing is synced by itself. */
export async function connectedForPush(service: Syncing, id?: number) {
  const repository = service.host.repository(`acme/pushed-${++repositories}`, { ...(id && { id }) })
  const project = await service.given.project()
  const path = `/api/projects/${project.id}/codehost`
  const { body } = await service.put(path, { repository: repository.name, schedule: 'off' })
  const webhook: HostWebhook = body.webhook
  const { id: connectionId } = body
  const opened = () =>
    itemDelivery(repository.issue(), {
      api: service.host.url,
      repository: { ...repository, name: repository.name, isPrivate: false },
      action: 'opened',
    })
  const inbox = () =>
    service.query('select * from deliveries where connection_id = $1 order by id', [connectionId])
  return { project, path, webhook, repository, opened, inbox }
}

/** The same with what reports changes there, and shows what became of them here. */
export async function pushedTo(service: Syncing, id?: number) {
  const { project, path, webhook, repository, inbox } = await connectedForPush(service, id)
  const { about } = repository
  const report = (item: HostItem, action: string) =>
    itemDelivery(item, { api: service.host.url, repository: about, action })
  const send = async (delivery: HostDelivery, deliveryId = randomUUID()) => {
    expect((await deliver(webhook, delivery, { deliveryId })).status).toBe(202)
    return deliveryId
  }
  return {
    project,
    repository,
    sync: () => service.sync(project.id),
    path,
    report,
    send,
    about,
    inbox,
    /** Waits until all are applied; returns the inbox. */
    applied: () =>
      vi.waitFor(
        async () => {
          const rows = await inbox()
          expect(rows.filter(({ outcome }) => outcome === 'pending')).toEqual([])
          return rows
        },
        { timeout: 15_000, interval: 50 },
      ),
    asked: () => service.asked().filter((line) => line.includes(`/repositories/${repository.id}/issues/`)),
    tasks: () => service.tasksOf(project.id),
  }
}
