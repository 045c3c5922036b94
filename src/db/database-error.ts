/** What PostgreSQL and its driver say when the database is away, starting, stopping or silent. */
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
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '25006', // read-only: a standby that was, or is about to be, the primary
  '40001',
  '40P01', // serialization, deadlock: a repeat succeeds
  '53100',
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

/** True where trying again later can help and nothing else can. Drizzle wraps what the driver throws. */
export function isDatabaseAway(error: unknown): boolean {
  return chain(error).some(({ code, message }) => AWAY.has(code ?? '') || AWAY_WORDS.test(message ?? ''))
}

/** What the network or the database said, beneath all that was wrapped around it: no statement, no values. */
export function reasonOf(error: unknown): string {
  return chain(error).findLast(({ message }) => message)?.message ?? 'for no known reason'
}

/** True where a statement was refused by this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return chain(error).some((link) => link.constraint === constraint)
}

/** True where a lock was not to be had in the time allowed. */
export function isLockTimeout(error: unknown): boolean {
  return chain(error).some(({ code }) => code === '55P03')
}

/** True where PostgreSQL chose this transaction to end, because two waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return chain(error).some(({ code }) => code === '40P01')
}

/**
 * The same mistake without what the statement was about: the driver repeats its parameters, and PostgreSQL quotes
 * values in its message, detail and context. What no statement caused stays as it is.
 */
export function withoutValues(error: unknown): unknown {
  const links = chain(error)
  const told =
    links.find(({ code, severity }) => code !== undefined || severity !== undefined) ?? links.at(-1)
  if (!told || !links.some((link) => 'query' in link || 'severity' in link)) return error
  const { code, constraint, table, routine } = told
  const message = (told.message ?? 'The statement failed.').replace(/"[^"]*"|'[^']*'/g, '"…"')
  return Object.assign(new Error(message), { code, constraint, table, routine })
}

interface PgError {
  code?: string
  message?: string
  constraint?: string
  severity?: string
  table?: string
  routine?: string
}

/** An error, its causes, and what an AggregateError gathers (a host with two addresses). */
function chain(error: unknown): PgError[] {
  if (typeof error !== 'object' || error === null) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] }
  return [error as PgError, ...chain(cause), ...(errors ?? []).flatMap(chain)]
}
