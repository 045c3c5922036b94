import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangePosition } from '../../domain/change-cursor.ts'
import type { Repositories } from '../../repositories/index.ts'

type Changes = Repositories['changes']

export interface Sequenced {
  end: ChangePosition
  /** False if there was too much to do, or other instances kept the turn: call again. */
  isComplete: boolean
}

export type Sequencer = ReturnType<typeof changeSequencer>

/** What one caller waits for a backlog or another instance. What has a position by then can be read. */
const MAX_MS = 2_000
/** A pass of another instance usually takes a few milliseconds. */
const BUSY_MS = 5

/** Rows of one statement, of which those without a position are touched. */
const TOUCH_BATCH = 50_000

interface SequencerDeps {
  changes: Changes
  /** Continues in a database that was restored from a dump, also under a running instance. */
  adopt(): Promise<unknown>
}

/** Gives activity its positions, for readers in this process and, in a timer, for later ones. */
export function changeSequencer({ changes, adopt }: SequencerDeps) {
  let running: Promise<Sequenced> | undefined
  let next: Promise<Sequenced> | undefined

  return {
    catchUp,

    /** Whether there is more to do: one pass, for a timer. */
    async work(): Promise<boolean> {
      const { outcome } = await changes.sequence()
      if (outcome === 'foreign') await adopt()
      return outcome === 'more' || outcome === 'foreign'
    },
  }

  /** Gives positions to everything that was committed before the call. Calls at the same time share the work. */
  function catchUp(): Promise<Sequenced> {
    if (running) {
      // A pass that has begun does not see what was committed since.
      next ??= running.then(catchUpNext, catchUpNext)
      return next
    }
    running = passes().finally(() => {
      running = undefined
    })
    return running
  }

  function catchUpNext(): Promise<Sequenced> {
    next = undefined
    return catchUp()
  }

  async function passes(): Promise<Sequenced> {
    const since = performance.now()
    for (;;) {
      const { outcome, end } = await changes.sequence()
      if (outcome === 'done') return { end, isComplete: true }
      if (outcome === 'foreign') await adopt()
      else if (performance.now() - since > MAX_MS) return { end, isComplete: false }
      else if (outcome === 'busy') await sleep(BUSY_MS)
    }
  }
}

/**
 * Continues the activity log in a database that was restored from a dump: another cluster assigns other transaction
 * ids. Activity without a position gets one in the next pass, and cursors of before end. Several instances may do this
 * at the same time.
 */
export async function adoptDatabase(changes: Changes): Promise<void> {
  if (!(await changes.isForeign())) return
  const snapshot = await changes.snapshot()
  let last: string | undefined
  do last = await changes.touchWithoutPosition(last, TOUCH_BATCH)
  while (last !== undefined)
  await changes.adopt(snapshot)
}
