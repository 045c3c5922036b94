import { AsyncLocalStorage } from 'node:async_hooks'

/** Whom work is done for, so that limits count it there. */
export interface WorkOwner {
  /** `caller`: one of many, of which none may keep the others waiting. The others have shares of their own. */
  kind: 'caller' | 'receivers' | 'jobs' | 'look-ups' | 'strangers'
  /** What is done for the same name counts together. */
  name: string
  /** Whether nobody waits for the work anymore. */
  isGone?: () => boolean
  /** How long the work waits for its turn, if not as long as other work. */
  maxWaitMs?: number
}

const owners = new AsyncLocalStorage<WorkOwner>()

/** Does work for its owner. */
export const ownedBy = <T>(owner: WorkOwner, run: () => T): T => owners.run(owner, run)

/** The owner of what is being done now. Work that several share has none. */
export const workOwner = (): WorkOwner | undefined => owners.getStore()
