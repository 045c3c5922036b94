import type { Scope } from '../schemas/caller.ts'

/** What a key can do: its scopes, how far it reaches, and for how long. */
export interface Strength {
  scopes: Scope[]
  projectId: string | null
  expiresAt: Date | null
}

export const allows = (scopes: Scope[], scope: Scope) => scopes.includes(scope) || scopes.includes('admin')

/** No key makes one stronger than itself: the first scope by which the wanted key would be, if any. */
export const scopeBeyond = (requested: Strength, maker: Strength): Scope | undefined =>
  requested.scopes.find((scope) => !allows(maker.scopes, scope))

export const outlives = (requested: Strength, maker: Strength): boolean =>
  maker.expiresAt !== null && (requested.expiresAt === null || requested.expiresAt > maker.expiresAt)
