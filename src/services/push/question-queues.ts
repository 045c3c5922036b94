import { traced } from '../../lib/traced.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { type AskingDeps, type Pause, questionAsker } from './asking.ts'
import type { Question } from './batch.ts'
import type { Settling } from './settling.ts'

interface Asking {
  connection: ConnectionRow
  signal: AbortSignal
}

/** When a code host could not be reached, until the next question of the connection. */
const PAUSE_MS = 5_000

/** Asks the code host in the background: the questions of each connection one after another, in their order. */
export function questionQueues(deps: AskingDeps & { repos: Repositories }, settling: Settling) {
  const { repos } = deps
  const { deliveries } = repos.within(everywhere)
  const ask = questionAsker(deps, settling)
  /** What is still to be asked, by connection. */
  const queues = new Map<string, { question: Question; asking: Asking }[]>()
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []

  return {
    add(questions: Question[], asking: Asking): void {
      if (questions.length === 0) return
      const { id } = asking.connection
      const added = questions.map((question) => ({ question, asking }))
      const queue = queues.get(id)
      if (queue) {
        queue.push(...added)
        return
      }
      queues.set(id, added)
      const work = deliveries
        .redacted(() => askAll(id, added))
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

  async function askAll(
    connectionId: string,
    queue: { question: Question; asking: Asking }[],
  ): Promise<void> {
    try {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { question, asking } = next
        const pause = asking.signal.aborted ? undefined : await askOne(question, asking)
        const rest = queue.map(({ question }) => question.ids)
        if (asking.signal.aborted) {
          // Another instance can ask at once.
          await deliveries.postpone(connectionId, { ids: [question.ids, ...rest].flat(), afterMs: 0 })
          return
        }
        if (!pause) continue
        queue.length = 0
        const ids = rest.flat()
        await deliveries.postpone(connectionId, { ids, afterMs: pause.forMs ?? PAUSE_MS })
      }
    } finally {
      queues.delete(connectionId)
    }
  }

  async function askOne(question: Question, asking: Asking): Promise<Pause | undefined> {
    try {
      const attributes = { 'inlet.connection.id': asking.connection.id }
      return await traced({ name: 'ask code host', kind: 'job', attributes }, () => ask(question, asking))
    } catch (error) {
      if (asking.signal.aborted) return undefined
      await settling.postpone(asking.connection.id, { ids: question.ids, reason: 'internal_error' })
      throw error
    }
  }
}
