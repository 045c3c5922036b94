import type { FastifyRequest } from 'fastify'
import { invalidSignature, missingSignature } from '../errors/index.ts'
import type { PushService, PushTarget } from '../services/push/index.ts'
import type { Sender } from './delivery-sender.ts'

/** The connection that a delivery of the code host is for. Its signature is of the body, of up to 4 MiB. */
export function codehostSender(push: Pick<PushService, 'findTarget' | 'isSigned'>) {
  return async function findSender({ headers, params }: FastifyRequest): Promise<Sender<PushTarget>> {
    const signature = headers['x-hub-signature-256']
    if (typeof signature !== 'string' || signature === '') throw missingSignature()
    if (!/^sha256=[0-9a-f]{64}$/.test(signature)) throw invalidSignature()
    const { connectionId } = params as { connectionId: string }
    const target = await push.findTarget(connectionId)
    if (!target) throw invalidSignature()
    return { target, isSigned: (body) => push.isSigned(target, { body, signature }) }
  }
}
