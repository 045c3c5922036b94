import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { feedback } from './feedback.ts'
import { type Answer, newTally, type Outgoing, retryingClient, type Tally } from './retrying-client.ts'

/** A task as the service has acknowledged it last. */
export interface AcknowledgedTask {
  title: string
  version: number
  status: string
  notes: string | null
}

/** All that the service said was done. What is not here and yet in the database was done twice, or behind the answer. */
export interface Acknowledged {
  tasks: Map<string, AcknowledgedTask>
  /** How many tasks carry the label of a batch. */
  batches: Map<string, number>
  /** The task of each feedback event, by the event's uuid. */
  events: Map<string, string>
}

export interface Load {
  tally: Tally
  acknowledged: Acknowledged
  /** Waits until every client has had an answer that it could use; resolves with how long that took. */
  recovery(): Promise<number>
  /** Lets every client end what it is at, with as many tries as that takes. */
  stop(): Promise<void>
}

interface LoadOptions {
  /** Where the service is, at the moment. */
  targets: () => string[]
  clients?: number
  /** Between two requests of a client, at most. */
  thinkMs?: number
}

/** What the service has to be started with, so that it takes the clients' feedback. */
export const FEEDBACK_SECRET = 'careful-clients-feedback'

const BATCH = 12

/**
 * Clients that do everything a careful client does so that nothing is lost or doubled: creates with an Idempotency-Key
 * or an externalId, batches, edits with If-Match, feedback with a uuid. Each changes only tasks of its own.
 */
export function startLoad({ targets, clients = 8, thinkMs = 10 }: LoadOptions): Load {
  const tally = newTally()
  const acknowledged: Acknowledged = { tasks: new Map(), batches: new Map(), events: new Map() }
  const lastAnswers: number[] = Array(clients).fill(0)
  let isOn = true

  const running = lastAnswers.map(async (_, nth) => {
    const { send, close } = retryingClient(targets, tally)
    const acts = actsOf(send, acknowledged, tally)
    try {
      for (let turn = nth; isOn; turn++) {
        await acts[turn % acts.length]?.()
        lastAnswers[nth] = performance.now()
        await sleep(thinkMs * Math.random())
      }
    } finally {
      close()
    }
  })
  // Whoever gives up is heard of in `stop`, not before.
  for (const client of running) client.catch(() => {})

  return {
    tally,
    acknowledged,
    async recovery() {
      const since = performance.now()
      const all = Promise.all(running)
      while (lastAnswers.some((at) => at <= since)) await Promise.race([sleep(5), all])
      return Math.max(...lastAnswers) - since
    },
    async stop() {
      isOn = false
      await Promise.all(running)
    },
  }
}

/** What one client does, in turn. */
function actsOf(send: (outgoing: Outgoing) => Promise<Answer>, known: Acknowledged, tally: Tally) {
  const own: string[] = []

  async function single() {
    const body = { title: `single ${randomUUID()}` }
    const answer = await send({ ...POST_TASK, headers: { 'idempotency-key': randomUUID() }, body })
    if (isExpected(answer, [201])) learn(answer.body)
  }

  async function external() {
    const externalId = randomUUID()
    const answer = await send({ ...POST_TASK, body: { title: `external ${externalId}`, externalId } })
    // 200 says that an earlier sending was taken.
    if (isExpected(answer, answer.attempts > 1 ? [200, 201] : [201])) learn(answer.body)
  }

  async function bulk() {
    const listId = own.length > 0 ? await anyList() : undefined
    if (!listId) return
    const label = `batch ${randomUUID()}`
    const tasks = Array.from({ length: BATCH }, (_, nth) => ({ title: `${label} ${nth}`, labels: [label] }))
    const headers = { 'idempotency-key': label }
    const answer = await send({ method: 'POST', path: '/api/tasks/bulk', headers, body: { listId, tasks } })
    if (!isExpected(answer, [201])) return
    known.batches.set(label, tasks.length)
    for (const task of answer.body.data) learn(task)
  }

  async function anyList(): Promise<string | undefined> {
    const answer = await send({ method: 'GET', path: `/api/tasks/${own[0]}` })
    return isExpected(answer, [200]) ? answer.body.listId : undefined
  }

  async function event() {
    const title = `feedback ${randomUUID()}`
    const sent = feedback({ note: title })
    const headers = { authorization: `Bearer ${FEEDBACK_SECRET}` }
    const answer = await send({ method: 'POST', path: '/api/analytics/webhook', headers, body: sent })
    if (!isExpected(answer, answer.attempts > 1 ? [200, 201] : [201])) return
    known.events.set(sent.uuid, answer.body.taskId)
    known.tasks.set(answer.body.taskId, { title, version: 1, status: 'open', notes: null })
  }

  /** One field at a time, so that each version has one line in the activity. */
  async function edit() {
    const id = own[Math.floor(Math.random() * own.length)]
    const task = id && known.tasks.get(id)
    if (!id || !task) return
    const change =
      task.version % 2 === 0
        ? { notes: `edit ${randomUUID()}` }
        : { status: task.status === 'done' ? 'open' : 'done' }
    const path = `/api/tasks/${id}`
    const answer = await send({
      method: 'PATCH',
      path,
      headers: { 'if-match': `"${task.version}"` },
      body: change,
    })
    // Stale after a repeat: was it the first sending that made it so?
    const isStale = answer.status === 412 && answer.attempts > 1
    const { body } = isStale ? await send({ method: 'GET', path }) : answer
    const isDone =
      body?.version === task.version + 1 &&
      Object.entries(change).every(([name, value]) => body[name] === value)
    if (isDone) learn(body)
    else tally.unexpected.push(`PATCH ${answer.status} ${JSON.stringify({ ...body, wanted: change })}`)
  }

  async function read() {
    isExpected(await send({ method: 'GET', path: '/api/tasks?fields=summary&limit=20' }), [200])
  }

  function learn({ id, title, version, status, notes }: AcknowledgedTask & { id: string }) {
    if (!known.tasks.has(id)) own.push(id)
    known.tasks.set(id, { title, version, status, notes })
  }

  function isExpected({ status, body }: Answer, expected: number[]): boolean {
    if (expected.includes(status)) return true
    tally.unexpected.push(`${status} ${JSON.stringify(body)}`)
    return false
  }

  return [single, external, edit, event, single, edit, bulk, read, edit]
}

const POST_TASK = { method: 'POST', path: '/api/tasks' }
