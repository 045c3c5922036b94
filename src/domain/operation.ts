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
export function requireAllowed(
  { scopes, projectId }: Pick<Strength, 'scopes' | 'projectId'>,
  { scope, isServiceWide }: Operation,
): void {
  if (scope !== 'any' && !allows(scopes, scope)) throw insufficientScope(scope)
  if (isServiceWide && projectId !== null) throw insufficientScope('admin')
}
