import type { FastifyRequest } from 'fastify'
import type { SourceTarget } from '../services/sources/receiving.ts'
import type { SourceSenders } from '../services/sources/senders.ts'
import type { Sender } from './delivery-sender.ts'

/** The source that a delivery is for, and how its body is verified. */
export function sourceSender(senders: Pick<SourceSenders, 'find'>) {
  return async function findSender({ headers, params }: FastifyRequest): Promise<Sender<SourceTarget>> {
    const { sourceId } = params as { sourceId: string }
    return senders.find(sourceId, headers)
  }
}
