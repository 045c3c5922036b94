import type pg from 'pg'
import type { CodeHost, Refusal, Unreachable } from '../../../src/clients/codehost.ts'
import { drizzle } from '../../../src/db/drizzle.ts'
import type { Database } from '../../../src/db/pool.ts'
import { repositories } from '../../../src/repositories/index.ts'
import type { Interruption } from './interruptions.ts'

interface InstanceDeps {
  pool: pg.Pool
  host: CodeHost
  interruption: Interruption | null
  /** Lets the time pass that the work takes longer. */
  delay(): Promise<void>
  /** Does what overlaps the work. */
  overlap(): Promise<void>
  /** Called with a request that has its effect later. */
  onLate(request: () => Promise<unknown>): void
  /** Called when the interruption has happened. */
  onInterrupted(): void
}

/** Something that a killed instance would have done. */
class Killed extends Error {}

/**
 * The outside of an instance, which can be killed at any of its requests or statements. From then on it has no effect:
 * all of its requests and statements fail, and its transactions are rolled back.
 */
export function mortalInstance({
  pool,
  host,
  interruption,
  delay,
  overlap,
  onLate,
  onInterrupted,
}: InstanceDeps) {
  let isKilled = false
  let requests = 0
  let statements = 0
  const overlapping: Promise<void>[] = []

  return {
    repos: repositories(databaseOf(pool, guardedStatement)),
    host: new Proxy(host, {
      get(target, name: keyof CodeHost) {
        const method = target[name] as (...args: unknown[]) => unknown
        if (name.endsWith('Url') || name === 'isSignedWith') return method
        return (...args: unknown[]) => guardedRequest(name, () => method(...args) as Promise<object>)
      },
    }),
    /** Works until it is done or killed. */
    async run(work: () => Promise<void>): Promise<void> {
      try {
        await work()
      } catch (error) {
        if (!isKilled) throw error
      }
      await Promise.all(overlapping)
    },
  }

  async function guardedStatement<T>(send: () => Promise<T>): Promise<T> {
    if (isKilled) throw new Killed()
    const isNth = interruption?.at === 'statement' && statements++ === interruption.nth
    if (isNth) {
      onInterrupted()
      if (interruption.how === 'overlapped') {
        await delay()
        startOverlap()
      }
      if (interruption.how === 'killed before') kill()
    }
    const result = await send()
    if (isNth && interruption.how === 'killed after') kill()
    if (isKilled) throw new Killed()
    return result
  }

  async function guardedRequest(name: keyof CodeHost, send: () => Promise<object>): Promise<object> {
    if (isKilled) throw new Killed()
    const isNth = interruption?.at.startsWith('request') && requests++ === interruption.nth
    if (!isNth || !interruption) return alive(send())
    onInterrupted()
    switch (interruption.how) {
      case 'killed before':
        return kill()
      case 'killed after':
        await send()
        return kill()
      case 'killed, arrives late':
        onLate(send)
        return kill()
      case 'fails':
        return UNREACHABLE
      case 'response lost':
        await send()
        return UNREACHABLE
      case 'arrives late':
        onLate(send)
        return UNREACHABLE
      case 'limited':
        return LIMITED
      case 'refused':
        return refusal(name, interruption.choice)
      case 'overlapped': {
        if (interruption.at === 'request before') await overlap()
        const response = await alive(send())
        if (interruption.at === 'request after') {
          await delay()
          await overlap()
        }
        return response
      }
    }
  }

  function kill(): never {
    isKilled = true
    throw new Killed()
  }

  async function alive<T>(response: Promise<T>): Promise<T> {
    const value = await response
    if (isKilled) throw new Killed()
    return value
  }

  /** Not awaited: it may wait for a lock of the statement's transaction. */
  function startOverlap(): void {
    const work = overlap()
    // Awaited at the end of the work.
    work.catch(() => {})
    overlapping.push(work)
  }
}

const UNREACHABLE: Unreachable = { outcome: 'unreachable', reason: 'No complete response.' }

const LIMITED: Refusal = {
  outcome: 'refused',
  status: 429,
  message: 'You have exceeded a secondary rate limit.',
  retryAfter: '60',
  singleSignOn: null,
  limits: { remaining: null, resetAt: null },
}

/** The statuses that end a request without its effect, except those that say that its subject is gone. */
const REFUSALS: Partial<Record<keyof CodeHost, number[]>> = {
  readItem: [401, 403, 404],
  changeIssue: [403, 404, 410, 422],
  createComment: [403, 404, 410, 422],
  changeComment: [403, 422],
}

function refusal(name: keyof CodeHost, choice: number): Refusal {
  const statuses = REFUSALS[name] ?? [403]
  const status = statuses[choice % statuses.length] ?? 403
  return { ...LIMITED, status, message: 'Refused.', retryAfter: null }
}

type Guard = <T>(send: () => Promise<T>) => Promise<T>

/** The database, with a guard around each statement. */
function databaseOf(pool: pg.Pool, guard: Guard): Database {
  const transaction: Database['transaction'] = async (work, config) => {
    const client = await pool.connect()
    try {
      return await drizzleOn(client, guard).transaction(work, config)
    } finally {
      // A killed instance has sent neither commit nor rollback.
      if (client.getTransactionStatus() !== 'I') await client.query('rollback')
      client.release()
    }
  }
  return Object.assign(drizzleOn(pool, guard), { transaction })
}

function drizzleOn(target: Queryable, guard: Guard): Database {
  // Casts: outside of transactions, drizzle calls nothing else; it takes a plain object for options.
  return drizzle(new GuardedClient(target, guard) as unknown as pg.Client) as unknown as Database
}

interface Queryable {
  query(config: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult>
}

class GuardedClient implements Queryable {
  readonly #target: Queryable
  readonly #guard: Guard

  constructor(target: Queryable, guard: Guard) {
    this.#target = target
    this.#guard = guard
  }

  query(config: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult> {
    return this.#guard(() => this.#target.query(config, values))
  }
}
