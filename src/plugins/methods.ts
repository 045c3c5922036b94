import type { FastifyInstance, HTTPMethods } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay from 'find-my-way'
import type { Operation } from '../domain/operation.ts'
import { methodNotAllowed } from '../errors/index.ts'
import { sendProblem } from './problems/index.ts'

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

declare module 'fastify' {
  interface FastifyInstance {
    /** All routes, as registered. */
    registeredRoutes: { method: string; url: string; operation: Operation | undefined }[]
  }
}

/**
 * Responds 405 with `Allow` if the path exists but not for this method. HEAD is supported for pages and health checks,
 * where browsers and probes send it: an operation with a scope would do all its work for an empty response.
 */
export const methods = fp(
  async function methods(app: FastifyInstance) {
    // Fastify does not expose its router, so a second one gets the same paths.
    const router = findMyWay<findMyWay.HTTPVersion.V1>({ ignoreTrailingSlash: false })
    const seen = new Map<string, Set<string>>()

    app.decorate('registeredRoutes', [])
    app.addHook('onRoute', ({ method, url, config }) => {
      if (url.endsWith('*')) return
      for (const name of [method].flat().filter((name) => name !== 'HEAD')) {
        app.registeredRoutes.push({ method: name, url, operation: config?.operation })
      }
      const allowed = seen.get(url) ?? new Set()
      if (!seen.has(url)) router.on('GET', url, () => {}, { url })
      seen.set(url, allowed)
      const isOperation = config?.operation !== undefined
      for (const name of [method].flat()) if (name !== 'HEAD' || !isOperation) allowed.add(name)
    })

    app.addHook('onRequest', async (request, reply) => {
      const path = request.url.split('?')[0] ?? '/'
      // Where a fixed path and `/:id` share a prefix, Fastify matches the one for methods that the other lacks.
      const { url: taken, config } = request.routeOptions
      const isTaken = seen.has(path) && taken?.includes(':')
      const isRefused = request.is404 || (request.method === 'HEAD' && config.operation !== undefined)
      const url = isTaken ? path : isRefused && router.find('GET', path)?.store.url
      const allowed = url && seen.get(url)
      if (!allowed || allowed.has(request.method)) return
      const allow = METHODS.filter((name) => allowed.has(name))
      return sendProblem(reply, methodNotAllowed(request.method, allow))
    })
  },
  { name: 'methods', dependencies: ['problems'] },
)
