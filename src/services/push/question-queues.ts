import { periodically } from '../../lib/periodically.ts'
import { traced } from '../../lib/traced.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import { type AskingDeps, type Pause, questionAsker } from './asking.ts'
import type { Question } from './batch.ts'
import type { Settling } from './settling.ts'

interface Asking {
  connectionId: string
  signal: AbortSignal
}

/** While the host is asked, no other instance asks the same; if this one is killed, another continues then. */
export const ASKING_MS = 60_000
/** When a code host could not be reached, until the next question of the connection. */
const PAUSE_MS = 5_000

/**
 * Asks the code host in the background: the questions of each connection one after another, in their order, and one
 * question for all deliveries about the same that have come before it is asked.
 */
export function questionQueues(deps: AskingDeps & { repos: Repositories }, settling: Settling) {
  const { repos } = deps
  const { pushedDeliveries } = repos.within(everywhere)
  const ask = questionAsker(deps, settling)
  /** By connection. */
  const queues = new Map<string, Queue>()
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []

  return {
    add(questions: Question[], asking: Asking): void {
      if (questions.length === 0) return
      const queue = queues.get(asking.connectionId)
      if (queue) {
        for (const question of questions) addTo(queue, question)
        return
      }
      const added: Queue = { asked: undefined, waiting: [...questions] }
      queues.set(asking.connectionId, added)
      const work = redacted(() => askAll(added, asking))
        .catch((error) => void errors.push(error))
        .finally(() => running.delete(work))
      running.add(work)
    },

    /** The errors since the last call. */
    takeErrors: (): unknown[] => errors.splice(0),

    /** Resolves when nothing is being asked. */
    async whenAsked(): Promise<void> {
      await Promise.all(running)
    },
  }

  async function askAll(queue: Queue, asking: Asking): Promise<void> {
    const { connectionId, signal } = asking
    const idsOf = () => [queue.asked, ...queue.waiting].flatMap((question) => question?.ids ?? [])
    // A long queue takes longer: without this, its deliveries would be due again.
    const renewal = periodically(
      () => pushedDeliveries.postpone(connectionId, { ids: idsOf(), afterMs: ASKING_MS }).catch(() => {}),
      ASKING_MS / 3,
    )
    try {
      for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) {
        queue.asked = next
        const pause = signal.aborted ? undefined : await askOne(next, asking)
        if (signal.aborted) {
          // Another instance can ask at once.
          await renewal.stop()
          await pushedDeliveries.postpone(connectionId, { ids: idsOf(), afterMs: 0 })
          return
        }
        queue.asked = undefined
        if (!pause) continue
        const ids = idsOf()
        queue.waiting.length = 0
        await pushedDeliveries.postpone(connectionId, { ids, afterMs: pause.forMs ?? PAUSE_MS })
      }
    } finally {
      queues.delete(connectionId)
      await renewal.stop()
    }
  }

  async function askOne(question: Question, asking: Asking): Promise<Pause | undefined> {
    const { connectionId, signal } = asking
    try {
      const attributes = { 'inlet.connection.id': connectionId }
      return await traced({ name: 'ask code host', kind: 'job', attributes }, () => ask(question, asking))
    } catch (error) {
      if (signal.aborted) return undefined
      const connection = await pushedDeliveries.findConnection(connectionId)
      if (connection) await settling.postpone(connection, { ids: question.ids, reason: 'internal_error' })
      throw error
    }
  }
}

interface Queue {
  /** What is being asked. */
  asked: Question | undefined
  /** What is still to be asked. */
  waiting: Question[]
}

/** The response to a question that is still to be asked is newer than what was reported before. */
function addTo({ asked, waiting }: Queue, question: Question): void {
  const same = waiting.find((each) => subjectOf(each) === subjectOf(question))
  const known = new Set([...(asked?.ids ?? []), ...(same?.ids ?? [])])
  const ids = question.ids.filter((id) => !known.has(id))
  if (same) same.ids.push(...ids)
  else if (ids.length > 0) waiting.push({ ...question, ids })
}

function subjectOf(question: Question): string {
  if (question.about === 'name') return 'name'
  return question.about === 'item' ? `item ${question.number}` : `comment ${question.externalId}`
}
