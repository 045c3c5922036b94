import type { FastifyReply, FastifyRequest } from 'fastify'
import { ownedBy, type WorkOwner } from '../lib/work-owner.ts'

type Done = () => void

/** preHandler, after authentication: what the request needs from here on counts for its caller. */
// biome-ignore lint/complexity/useMaxParams: Fastify's signature.
export function workForCaller({ caller }: FastifyRequest, { raw }: FastifyReply, done: Done): void {
  const isGone = () => raw.destroyed && !raw.writableFinished
  ownedBy({ kind: 'caller', name: caller.principal.id, isGone }, done)
}

/** The same for requests without a caller, which have a share together. */
export const workFor =
  (kind: WorkOwner['kind']) =>
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  (_request: FastifyRequest, _reply: FastifyReply, done: Done): void =>
    ownedBy({ kind, name: kind }, done)
