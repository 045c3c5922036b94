import type { FastifyRequest } from 'fastify'
import type { ImportState } from '../services/import-state.ts'

/** preHandler, after the scope: refuses changes during an import. AI tools and pages that sign in check it themselves. */
export function refuseDuringImport({ requireNone }: Pick<ImportState, 'requireNone'>) {
  return async function refuseDuringImport({ method, routeOptions: { config } }: FastifyRequest) {
    if (method !== 'GET' && !config.isAllowedDuringImport) requireNone()
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that writes, and is let in during an import: it decides for itself. */
    isAllowedDuringImport?: boolean
  }
}
