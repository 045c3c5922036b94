import {
  actingPersonRequired,
  beyondPersonalKey,
  expiringCredentials,
  insufficientScope,
  personRequired,
  secretReplaced,
  serviceKeyRequired,
  signInAgain,
} from '../errors/index.ts'
import type { Scope } from '../schemas/caller.ts'
import type { TaskSource } from '../schemas/task.ts'
import { allows, type Strength } from './key-strength.ts'

/** What a caller needs for one method of a service; the same for every interface that offers the method. */
export interface Operation {
  /** `any` for every caller with valid credentials. */
  scope: Scope | 'any'
  /** Concerns the whole service: callers who can't see all projects are refused, whatever their scopes. */
  isServiceWide?: boolean
  /** Makes, replaces or revokes a key or a secret: refused for a secret that was replaced itself. */
  changesSecrets?: boolean
  /** Refused for credentials that expire: what they make would outlive them. */
  needsLasting?: boolean
  /** Refused for personal keys: what it makes could do more than the key, and outlive it. */
  isBeyondPersonalKeys?: boolean
  /** Refused for people, also with a personal key: it ends what they sign in with. */
  needsServiceKey?: boolean
  /** Only for a person: `acting`, also with a personal key; or signed in; or `recently`, less than ten minutes ago. */
  person?: 'acting' | 'signed in' | 'recently'
}

/** The operations of a service, by method. */
export type Operations<Service> = { [Method in keyof Service]?: Operation }

/** @throws insufficient_scope, service_key_required, personal_key, person_required, sign_in_again */
export function requireAllowed(caller: Restricted, operation: Operation): void {
  const missing = missingScope(caller, operation)
  if (missing !== undefined) throw insufficientScope(missing)
  if (isBeyondReplaced(caller, operation)) throw secretReplaced(operation.scope)
  if (operation.needsLasting && caller.expiresAt !== null) throw expiringCredentials()
  if (operation.needsServiceKey && caller.principal.type === 'user') throw serviceKeyRequired()
  if (operation.isBeyondPersonalKeys && isPersonalKey(caller)) throw beyondPersonalKey()
  if (operation.person === undefined) return
  if (caller.principal.type === 'key')
    throw operation.person === 'acting' ? actingPersonRequired() : personRequired()
  if (operation.person === 'acting') return
  if (isPersonalKey(caller)) throw personRequired()
  if (operation.person === 'recently' && !caller.isRecentSignIn) throw signInAgain()
}

export const isAllowed = (
  caller: Pick<Restricted, 'scopes' | 'projectIds' | 'isReplaced'>,
  operation: Operation,
): boolean => missingScope(caller, operation) === undefined && !isBeyondReplaced(caller, operation)

type Restricted = Strength & {
  /** The projects in reach; null for all. */
  projectIds: readonly string[] | null
  /** Whether the secret was replaced, and is valid only until the end of its overlap. */
  isReplaced?: boolean
  channel: TaskSource
  principal: { type: 'key' | 'user' }
  /** Whether the person signed in less than ten minutes ago. */
  isRecentSignIn?: boolean
}

/** Whether a person sent a personal key, and is not signed in. */
const isPersonalKey = ({ principal, channel }: Pick<Restricted, 'principal' | 'channel'>) =>
  principal.type === 'user' && channel !== 'dashboard'

/** Whoever has a secret that was rotated away must not keep access by it, or take it from the owner. */
const isBeyondReplaced = (
  { isReplaced = false }: Pick<Restricted, 'isReplaced'>,
  { changesSecrets = false }: Operation,
) => isReplaced && changesSecrets

function missingScope(
  { scopes, projectIds }: Pick<Restricted, 'scopes' | 'projectIds'>,
  { scope, isServiceWide }: Operation,
): Scope | undefined {
  if (scope !== 'any' && !allows(scopes, scope)) return scope
  return isServiceWide && projectIds !== null ? 'admin' : undefined
}
