import { Scope } from '../schemas/caller.ts'
import type { Role } from '../schemas/user.ts'

const SCOPES: Record<Role, Scope[]> = {
  owner: ['admin'],
  member: Scope.filter((scope) => scope !== 'admin' && scope !== 'metrics:read'),
  viewer: ['tasks:read', 'rules:read'],
}

/** What a role allows, as scopes. */
export const scopesOf = (role: Role): Scope[] => SCOPES[role]

/** What both allow: a personal key is never stronger than its person. */
export function commonScopes(some: Scope[], others: Scope[]): Scope[] {
  if (some.includes('admin')) return others
  if (others.includes('admin')) return some
  return some.filter((scope) => others.includes(scope))
}

/** Names that addresses and filters use for something else. */
const RESERVED_USERNAMES = ['me', 'none']

export const isReservedUsername = (username: string) => RESERVED_USERNAMES.includes(username)
