import { insufficientScope, secretReplaced } from '../errors/index.ts'
import type { Scope } from '../schemas/caller.ts'
import { allows, type Strength } from './key-strength.ts'

/** What a caller needs for one method of a service; the same for every interface that offers the method. */
export interface Operation {
  /** `any` for every caller with valid credentials. */
  scope: Scope | 'any'
  /** Concerns the whole service: callers who can't see all projects are refused, whatever their scopes. */
  isServiceWide?: boolean
  /** Makes, replaces or revokes a key or a secret: refused for a secret that was replaced itself. */
  changesSecrets?: boolean
}

/** The operations of a service, by method. */
export type Operations<Service> = { [Method in keyof Service]?: Operation }

/** @throws insufficient_scope */
export function requireAllowed(caller: Restricted, operation: Operation): void {
  const missing = missingScope(caller, operation)
  if (missing !== undefined) throw insufficientScope(missing)
  if (isBeyondReplaced(caller, operation)) throw secretReplaced(operation.scope)
}

export const isAllowed = (caller: Restricted, operation: Operation): boolean =>
  missingScope(caller, operation) === undefined && !isBeyondReplaced(caller, operation)

type Restricted = Pick<Strength, 'scopes'> & {
  /** The projects in reach; null for all. */
  projectIds: readonly string[] | null
  /** Whether the secret was replaced, and is valid only until the end of its overlap. */
  isReplaced?: boolean
}

/** Whoever has a secret that was rotated away must not keep access by it, or take it from the owner. */
const isBeyondReplaced = ({ isReplaced = false }: Restricted, { changesSecrets = false }: Operation) =>
  isReplaced && changesSecrets

function missingScope(
  { scopes, projectIds }: Restricted,
  { scope, isServiceWide }: Operation,
): Scope | undefined {
  if (scope !== 'any' && !allows(scopes, scope)) return scope
  return isServiceWide && projectIds !== null ? 'admin' : undefined
}
