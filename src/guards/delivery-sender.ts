import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../errors/index.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

/** Who a delivery is from, as far as its headers tell. */
export interface Sender<T> {
  target: T
  /** Verifies the body as it was received; absent if the headers have decided. */
  isSigned?: (body: Buffer) => boolean | Promise<boolean>
}

interface SenderGuardDeps<T> {
  /** Decides what the headers decide. Throws if they prove that the delivery is not to be accepted. */
  findSender(request: FastifyRequest): Promise<Sender<T>>
  /** The error of a body that is not signed as it must be. */
  refusal(): AppError
  failures: FailureLimit
  buffer: RetryBuffer
}

/** The guards of a receiver whose senders sign the body. Nothing is parsed before the body is verified. */
export function senderGuards<T>({ findSender, refusal, failures, buffer }: SenderGuardDeps<T>) {
  const senders = new WeakMap<FastifyRequest, Sender<T>>()
  const verified = new WeakSet<FastifyRequest>()

  return {
    /** onRequest: what the headers decide, before the body is read. */
    async requireSender(request: FastifyRequest, reply: FastifyReply) {
      await failures.watch(request.ip, async () => {
        const sender = await buffer(reply.elapsedTime, () => findSender(request))
        senders.set(request, sender)
      })
    },

    /** preHandler: compares the signature with the body as it was received, before it is parsed. */
    async verifyBody(request: FastifyRequest) {
      const { body, bodyError, ip } = request
      // Thrown before the limit of deliveries, which a stranger must not use up.
      if (bodyError) throw bodyError
      await failures.watch(ip, async () => {
        const sender = senders.get(request)
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        if (!sender || (sender.isSigned && !(await sender.isSigned(bytes)))) throw refusal()
        verified.add(request)
      })
    },

    /** Whether only the body shows who sent it. */
    isUnverified: (request: FastifyRequest): boolean => senders.get(request)?.isSigned !== undefined,

    /** Whether its sender has proved to be the one that its headers name. */
    isVerified: (request: FastifyRequest): boolean => verified.has(request),

    /** The target of a verified delivery. */
    targetOf(request: FastifyRequest): T {
      const sender = senders.get(request)
      if (!sender) throw refusal()
      return sender.target
    },
  }
}

export type SenderGuards<T> = ReturnType<typeof senderGuards<T>>
