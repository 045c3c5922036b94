import { repaired } from '../schemas/formats.ts'
import { Role } from '../schemas/user.ts'
import { isReservedUsername } from './people.ts'

/** What an identity provider says about a person; nothing of it is trusted to have a form. */
export type Claims = Record<string, unknown>

/** What a provider's configuration decides about people. */
export interface ProviderRules {
  groupsClaim: string
  requiredGroup: string | null
  roleByGroup: Record<string, Role>
  createUsers: 'invited' | 'allowed'
  allowedDomains: string[]
  newUsers: { role: 'member' | 'viewer'; projectIds: string[] | null } | null
}

const MAX_SUBJECT = 255
const MAX_NAME = 100
const MAX_USERNAME = 39

/** The subject as it is stored; undefined if it cannot be. */
export function subjectOf({ sub }: Claims): string | undefined {
  const isStored = typeof sub === 'string' && sub !== '' && [...sub].length <= MAX_SUBJECT
  return isStored && repaired(sub) === sub ? sub : undefined
}

/** The groups of a person; undefined if the provider did not send any claim about them. */
export function groupsOf(claims: Claims, { groupsClaim }: Pick<ProviderRules, 'groupsClaim'>) {
  const given = Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined
  if (typeof given === 'string') return new Set([given])
  if (!Array.isArray(given)) return undefined
  return new Set(given.filter((group): group is string => typeof group === 'string'))
}

/** Whether a person may sign in, as far as groups decide it. */
export const hasRequiredGroup = (claims: Claims, rules: ProviderRules): boolean =>
  rules.requiredGroup === null || groupsOf(claims, rules)?.has(rules.requiredGroup) === true

/** Whether somebody whom nobody has invited may sign in. The required group has been checked. */
export function mayJoin(claims: Claims, rules: ProviderRules): boolean {
  if (rules.createUsers !== 'allowed' || !rules.newUsers) return false
  if (rules.allowedDomains.length === 0) return rules.requiredGroup !== null
  const domain = domainOf(claims)
  return claims.email_verified === true && domain !== undefined && rules.allowedDomains.includes(domain)
}

/** The domain of the email address. Others than ASCII may look like another one. */
function domainOf({ email }: Claims): string | undefined {
  if (typeof email !== 'string') return undefined
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const isAscii = /^[!-~]+$/.test(domain) && domain !== email
  return isAscii ? domain.toLowerCase() : undefined
}

/** The role that the groups decide; undefined if they decide nothing. */
export function roleByGroups(claims: Claims, rules: ProviderRules): Role | undefined {
  const roles = Object.entries(rules.roleByGroup)
  const groups = groupsOf(claims, rules)
  if (roles.length === 0 || !groups) return undefined
  const own = roles.filter(([group]) => groups.has(group)).map(([, role]) => role)
  // From the strongest to the weakest.
  return Role.find((role) => own.includes(role)) ?? rules.newUsers?.role
}

/** The email address, if it is one that can be stored. */
export function emailOf({ email, email_verified: isVerified }: Claims): string | null {
  const isStored =
    typeof email === 'string' &&
    email.length <= 254 &&
    /^[^@\s\p{Cc}\p{Cf}]+@[^@\s\p{Cc}\p{Cf}]+$/u.test(email)
  return isStored && isVerified === true ? email : null
}

/** The name that others see, without characters that hide or reorder others. */
export function nameOf({ name }: Claims, username: string): string {
  if (typeof name !== 'string') return username
  const plain = repaired(name).replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
  return [...plain.trim()].slice(0, MAX_NAME).join('').trim() || username
}

/** A valid username for somebody new, which may be taken. */
export function usernameOf({ preferred_username: preferred, email }: Claims): string {
  const texts = [preferred, email].filter((text): text is string => typeof text === 'string')
  const [first = 'person'] = texts.map(usernameIn).filter((name) => name.length >= 2)
  return isReservedUsername(first) ? `${first}-1` : first
}

/** The same with a suffix, shortened to be valid. */
export const withSuffix = (username: string, suffix: string): string =>
  `${username.slice(0, MAX_USERNAME - suffix.length - 1).replace(/-+$/, '')}-${suffix}`

const usernameIn = (text: string): string =>
  (text.split('@')[0] ?? '')
    // É becomes E.
    .slice(0, 1_000)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_USERNAME)
    .replace(/^-+|-+$/g, '')
