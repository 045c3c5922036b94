import { type ErrorLink, errorChain } from '../lib/error-chain.ts'

/** Error codes of PostgreSQL and its driver when the database is unavailable, starting, stopping or not responding. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ABORT_ERR', // the process is ending and has cut its connections
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '25006', // read-only: a standby that was, or is about to be, the primary
  '40001',
  '40P01', // serialization failure, deadlock: a retry succeeds
  '53200',
  '53300',
  '53400',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
])
const AWAY_WORDS =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/

/** Errors of PgBouncer that a retry does not mend: its configuration, or what it says of the server's. */
const POOLER_REFUSALS =
  /^(unsupported |no such |bouncer config error|SSL required|login rejected|not allowed|server login failed)|authentication failed|is disabled$|does not exist|no pg_hba\.conf entry/

/** New connections are refused until somebody mends it: credentials, the name of the database, certificates. */
const REFUSED = /^(28...|3D000|CERT_\w+|ERR_TLS_\w+|UNABLE_TO_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*)$/

/** True if a later retry can succeed. Searches the causes: drizzle wraps the driver's errors. */
export function isDatabaseAway(error: unknown): boolean {
  return (
    isDiskFull(error) ||
    isConnectionRefused(error) ||
    errorChain(error).some(
      (link) => AWAY.has(link.code ?? '') || AWAY_WORDS.test(link.message ?? '') || isPoolerAway(link),
    )
  )
}

/** What PostgreSQL says where the file system does not take more; a quota has no code of its own. */
const FULL_WORDS = /No space left on device|Disk quota exceeded/

/** True if the disk of the database is full. */
export function isDiskFull(error: unknown): boolean {
  return errorChain(error).some(({ code, message }) => code === '53100' || FULL_WORDS.test(message ?? ''))
}

/** True if a retry succeeds only after somebody has changed something. */
export function isConnectionRefused(error: unknown): boolean {
  return errorChain(error).some(({ code }) => REFUSED.test(code ?? ''))
}

/** PgBouncer reports whatever ends a connection as a violation of the protocol. */
const isPoolerAway = ({ code, severity, message = '' }: ErrorLink) =>
  code === '08P01' && severity === 'FATAL' && !POOLER_REFUSALS.test(message)

/** True if a pooler refused a setting for the session. */
export function isSettingRefused(error: unknown): boolean {
  return errorChain(error).some(({ message }) => /^unsupported startup parameter/.test(message ?? ''))
}

/** The message of the innermost error, from the network or the database: without statement and values. */
export function reasonOf(error: unknown): string {
  return errorChain(error).find(({ message }) => message)?.message ?? 'for no known reason'
}

/** True if a statement violated this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return errorChain(error).some((link) => link.constraint === constraint)
}

/** True if a lock was not available within the time allowed. */
export function isLockTimeout(error: unknown): boolean {
  return errorChain(error).some(({ code }) => code === '55P03')
}

/** True if the server refused the password. */
export function isPasswordRefused(error: unknown): boolean {
  return errorChain(error).some(({ code }) => code === '28P01')
}

/** Of a database whose folder PostgreSQL does not know again: these have the code of an invalid parameter. */
const DAMAGED_WORDS = /is not a valid data directory|^database files are incompatible with server/

/** True if PostgreSQL cannot read its own files: pages that fail their checksum, files that are gone, catalogs at odds. */
export function isDamaged(error: unknown): boolean {
  return errorChain(error).some(
    ({ code, message }) => /^XX00[0-9]$|^58P01$/.test(code ?? '') || DAMAGED_WORDS.test(message ?? ''),
  )
}

/** True if the same transaction succeeds when its locks are taken again: see `lockConflict`. */
export function isLockConflict(error: unknown): boolean {
  return errorChain(error).some(({ code }) => code === '40P01' || code === '40001')
}

/**
 * The same error without values: the driver repeats the parameters, and PostgreSQL quotes values in its message,
 * detail and context. Errors that no statement caused are returned unchanged.
 */
export function withoutValues(error: unknown): unknown {
  const links = errorChain(error)
  const reported =
    links.findLast(({ code, severity }) => code !== undefined || severity !== undefined) ?? links[0]
  if (!reported || !links.some((link) => 'query' in link || 'severity' in link)) return error
  const { code, constraint, table, routine } = reported
  const message = (reported.message ?? 'The statement failed.').replace(/"[^"]*"|'[^']*'/g, '"…"')
  return Object.assign(new Error(message), { code, constraint, table, routine })
}

/** True if a statement was refused because of its values. */
export const isInvalidData = (error: unknown): boolean =>
  errorChain(error).some(({ code }) => /^(22|23|54)/.test(code ?? ''))

/** Why it was, and the constraint or index that it violates, if any. */
export function violationOf(error: unknown): {
  reason: 'duplicate' | 'unknown_reference' | 'invalid'
  constraint: string | undefined
} {
  const { code, constraint } = errorChain(error).findLast((link) => link.code !== undefined) ?? {}
  if (code === '23505') return { reason: 'duplicate', constraint }
  return { reason: code === '23503' ? 'unknown_reference' : 'invalid', constraint }
}
