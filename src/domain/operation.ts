import { insufficientScope } from '../errors/index.ts'
import type { Scope } from '../schemas/caller.ts'
import { allows, type Strength } from './key-strength.ts'

/** What a caller needs for one method of a service; the same for every interface that offers the method. */
export interface Operation {
  /** `any` for every caller with valid credentials. */
  scope: Scope | 'any'
  /** Concerns the whole service: keys bound to a project are refused, whatever their scopes. */
  isServiceWide?: boolean
}

/** The operations of a service, by method. */
export type Operations<Service> = { [Method in keyof Service]?: Operation }

/** @throws insufficient_scope */
export function requireAllowed(caller: Restricted, operation: Operation): void {
  const missing = missingScope(caller, operation)
  if (missing !== undefined) throw insufficientScope(missing)
}

export const isAllowed = (caller: Restricted, operation: Operation): boolean =>
  missingScope(caller, operation) === undefined

type Restricted = Pick<Strength, 'scopes' | 'projectId'>

function missingScope(
  { scopes, projectId }: Restricted,
  { scope, isServiceWide }: Operation,
): Scope | undefined {
  if (scope !== 'any' && !allows(scopes, scope)) return scope
  return isServiceWide && projectId !== null ? 'admin' : undefined
}
