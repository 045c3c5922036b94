import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  connectionNotFound,
  deliveryNotFound,
  deliveryNotReplayable,
  projectNotFound,
} from '../../errors/index.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { ListedRow } from '../../repositories/codehost/deliveries.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { CodehostDelivery, DeliveryQuery } from '../../schemas/delivery.ts'
import type { Caller } from '../access.ts'
import { readPage } from '../page.ts'
import { writableProject } from '../writable-project.ts'

export const deliveriesOperations = {
  list: { scope: 'tasks:read' },
  get: { scope: 'admin' },
  replay: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof deliveriesService>>

/** Larger payloads are not returned. */
const MAX_PAYLOAD_BYTES = 262_144

interface DeliveryPath {
  projectId: string
  id: string
}

/** The inbox of the push receiver: the deliveries of a project's connection, and their outcome. */
export function deliveriesService({ repos }: { repos: Repositories }) {
  return {
    /**
     * Newest first.
     * @throws project_not_found, connection_not_found
     */
    async list(caller: Caller, { projectId, query }: { projectId: string; query: DeliveryQuery }) {
      const { status, ...request } = query
      const bound = repos.within(caller)
      const { id: connectionId } = await connectionOf(bound, projectId)
      return readPage({
        order: orderById('deliveries'),
        request,
        read: async (before, limit) =>
          (await bound.deliveries.list(connectionId, { status, before, limit })).map(toDelivery),
      })
    },

    /**
     * One delivery with its payload.
     * @throws project_not_found, connection_not_found, delivery_not_found
     */
    async get(
      caller: Caller,
      { projectId, id }: DeliveryPath,
    ): Promise<CodehostDelivery & { payload: unknown }> {
      const bound = repos.within(caller)
      const connection = await connectionOf(bound, projectId)
      const delivery = await deliveryOf(bound, { connection, id })
      const isLarge = delivery.payloadBytes > MAX_PAYLOAD_BYTES
      const payload = isLarge ? undefined : await bound.deliveries.findPayload(connection.id, id)
      return { ...toDelivery(delivery), payload: payload ? JSON.parse(payload.toString()) : null }
    },

    /**
     * Applies a delivery again, whatever its outcome was. The caller wakes the worker after the commit.
     * @throws project_not_found, project_archived, connection_not_found, delivery_not_found, delivery_not_replayable
     */
    async replay(caller: Caller, { projectId, id }: DeliveryPath): Promise<CodehostDelivery> {
      return repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, { id: projectId })
        const connection = await connectionOf(repos, projectId)
        const delivery = await deliveryOf(repos, { connection, id })
        if (!delivery.hasPayload) throw deliveryNotReplayable(id)
        await repos.deliveries.reset(connection.id, id)
        return toDelivery(await deliveryOf(repos, { connection, id }))
      })
    },
  }
}

async function connectionOf(repos: BoundRepositories, projectId: string): Promise<ConnectionRow> {
  if (!(await repos.projects.find(projectId))) throw projectNotFound(projectId)
  const connection = await repos.codehost.find(projectId)
  if (!connection) throw connectionNotFound()
  return connection
}

async function deliveryOf(
  { deliveries }: BoundRepositories,
  { connection, id }: { connection: ConnectionRow; id: string },
): Promise<ListedRow> {
  const delivery = await deliveries.find(connection.id, id)
  if (!delivery) throw deliveryNotFound(id)
  return delivery
}

const toDelivery = ({ hasPayload, ...row }: ListedRow): CodehostDelivery => ({
  id: row.id,
  deliveryId: row.deliveryId,
  event: row.event,
  action: row.action,
  number: row.number,
  status: row.status,
  reason: row.reason,
  attempts: row.attempts,
  taskId: row.taskId,
  isReplayable: hasPayload,
  payloadBytes: row.payloadBytes,
  receivedAt: row.receivedAt.toISOString(),
  appliedAt: row.appliedAt?.toISOString() ?? null,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
})
