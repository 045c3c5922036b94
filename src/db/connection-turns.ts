import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { errorChain } from '../lib/error-chain.ts'
import { fairSemaphore, type Refusal, type Share } from '../lib/fair-semaphore.ts'
import { detached } from '../lib/traced.ts'
import { type WorkOwner, workOwner } from '../lib/work-owner.ts'

/** How much of the pool work of each kind takes at most. */
const SHARES: Record<WorkOwner['kind'], number> = {
  caller: 0.4,
  receivers: 0.4,
  jobs: 0.3,
  'look-ups': 0.2,
  strangers: 0.1,
}

/** Of each pool, for what is not done for one caller. */
const MAX_RESERVED = 3

/** For a connection, if the pool says nothing else. */
const MAX_WAIT_MS = 2_000

/** Of a database that is there. */
const MAX_RESPONSE_MS = 1_000

const OVER_SHARE = 'OVER_SHARE'

type Callback = Parameters<pg.Pool['connect']>[0]

/**
 * Makes those who wait for a connection take turns: one caller never takes those of the others, and all callers together
 * leave some to receivers, jobs, look-ups, and statements that callers share. Returns how many wait.
 */
export function takeTurns(pool: pg.Pool, size: number): () => number {
  const reserved = Math.min(MAX_RESERVED, Math.floor(size / 3) || size - 1)
  const places = fairSemaphore({ places: size, reserved })
  const holders = new WeakMap<pg.PoolClient, Share>()
  let asking: Promise<boolean> | undefined
  const connectNow = pool.connect.bind(pool)

  pool.on('release', (error, client) => {
    const share = holders.get(client)
    holders.delete(client)
    if (share) places.giveBack(share, { hasFailed: Boolean(error) })
  })

  function connect(callback: Callback): void {
    const owner = workOwner()
    const share = shareOf(owner, size)
    places.take(share, {
      maxMs: owner?.maxWaitMs ?? pool.options.connectionTimeoutMillis ?? MAX_WAIT_MS,
      isGone: owner?.isGone,
      onTurn(refusal) {
        if (refusal) {
          void errorOf(refusal, share).then((error) => callback(error, undefined, () => {}))
          return
        }
        // biome-ignore lint/complexity/useMaxParams: the driver's signature.
        connectNow((error, client, release) => {
          if (client) holders.set(client, share)
          else places.giveBack(share, { hasFailed: true })
          callback(error, client, release)
        })
      },
    })
  }

  async function errorOf(refusal: Refusal, { isReserved }: Share): Promise<Error> {
    const isOver = !isReserved && (refusal === 'busy' || (refusal === 'stuck' && (await isResponding())))
    // The second has the message of the driver where a pool is full.
    return isOver
      ? Object.assign(new Error('The caller has its share of the connections.'), { code: OVER_SHARE })
      : new Error('timeout exceeded when trying to connect')
  }

  /** Slow statements of one caller look the same as a database that does not respond. */
  function isResponding(): Promise<boolean> {
    const responds = () =>
      pool.query('select').then(
        () => true,
        () => false,
      )
    asking ??= detached(() => Promise.race([responds(), sleep(MAX_RESPONSE_MS, false)])).finally(() => {
      asking = undefined
    })
    return asking
  }

  pool.connect = withPromise(connect)
  return places.waiting
}

/** True if work got no connection because other work of the same owner had its share of them. */
export const isOverShare = (error: unknown): boolean =>
  errorChain(error).some(({ code }) => code === OVER_SHARE)

function shareOf(owner: WorkOwner | undefined, size: number): Share {
  if (!owner) return { name: '', max: size, isReserved: true }
  const max = size * SHARES[owner.kind]
  const name = `${owner.kind} ${owner.name}`
  return owner.kind === 'caller'
    ? { name, max: Math.max(1, Math.floor(max)), isReserved: false }
    : { name, max: Math.ceil(max), isReserved: true }
}

/** Cast: the driver has two signatures for this. */
const withPromise = (connect: (callback: Callback) => void) =>
  ((callback?: Callback) => {
    if (callback) return connect(callback)
    return new Promise((resolve, reject) =>
      connect((error, client) => (client ? resolve(client) : reject(error))),
    )
  }) as pg.Pool['connect']
