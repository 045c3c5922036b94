import type { FastifyInstance } from 'fastify'

export interface Route {
  method: string
  /** The route's own address with every parameter filled in by a UUID that nothing has. */
  path: string
  /** `GET /api/tasks/:id` */
  name: string
  scope: string | undefined
  isServiceWide: boolean
  /** Whether only a person may call it. */
  person: boolean
  /** Whether such a person may also send a personal key. */
  isOfPersonalKeys: boolean
  /** Whether no person may call it. */
  needsServiceKey: boolean
  /** Whether no personal key may call it. */
  isBeyondPersonalKeys: boolean
}

/** Every route of the service, as it registered them: a new one cannot escape. */
export function routesOf(app: FastifyInstance): Route[] {
  return app.registeredRoutes.map(({ method, url, operation }) => ({
    method,
    path: url.replace(/:\w+/g, '00000000-0000-7000-8000-000000000000'),
    name: `${method} ${url}`,
    scope: operation?.scope,
    isServiceWide: operation?.isServiceWide ?? false,
    person: operation?.person !== undefined,
    isOfPersonalKeys: operation?.person === undefined || operation.person === 'acting',
    needsServiceKey: operation?.needsServiceKey ?? false,
    isBeyondPersonalKeys: operation?.isBeyondPersonalKeys ?? false,
  }))
}
