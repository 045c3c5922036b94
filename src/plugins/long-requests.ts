import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** For a response that waits for events: aborted when the client disconnects, or the instance shuts down. */
    untilEnd(): AbortController
  }
}

/** Ends streams and long polls at shutdown: a server closes only when its responses have ended. */
export const longRequests = fp(
  async function longRequests(app: FastifyInstance) {
    const open = new Set<AbortController>()
    app.decorateReply('untilEnd', function (this: FastifyReply) {
      const ending = new AbortController()
      open.add(ending)
      this.raw.once('close', () => {
        open.delete(ending)
        ending.abort()
      })
      return ending
    })
    // Runs before those of routes, which wait for what is aborted here.
    app.addHook('preClose', async () => {
      for (const ending of open) ending.abort()
    })
  },
  { name: 'long-requests' },
)
