import type { Scope } from '../schemas/caller.ts'
import type { SignInWays } from '../schemas/session.ts'

/** What a key can do: its scopes and its expiry. */
export interface Strength {
  scopes: Scope[]
  expiresAt: Date | null
}

export const allows = (scopes: Scope[], scope: Scope) => scopes.includes(scope) || scopes.includes('admin')

/** Whether a key with these scopes can sign in, where all or only admin keys can. */
export const maySignIn = (scopes: Scope[], keys: SignInWays['keys']) =>
  keys === 'all' || allows(scopes, 'admin')

/** A key cannot create a stronger key. Returns the first requested scope that exceeds the maker's, if any. */
export const scopeBeyond = (requested: Strength, maker: Strength): Scope | undefined =>
  requested.scopes.find((scope) => !allows(maker.scopes, scope))

export const outlives = (requested: Strength, maker: Strength): boolean =>
  maker.expiresAt !== null && (requested.expiresAt === null || requested.expiresAt > maker.expiresAt)
