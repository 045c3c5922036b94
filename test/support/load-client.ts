import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { feedback } from './feedback.ts'
import {
  type ClientResponse,
  newTally,
  type Outgoing,
  retryingClient,
  type Tally,
} from './retrying-client.ts'

/** A task in the state that the service acknowledged last. */
export interface AcknowledgedTask {
  title: string
  version: number
  status: string
  notes: string | null
}

type Summary = Pick<AcknowledgedTask, 'title' | 'version' | 'status'> & { id: string }

/** Everything the service acknowledged. Anything else in the database was done twice, or after an error response. */
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
  /** Waits until every client has had a successful response; resolves with the milliseconds it took. */
  recovery(): Promise<number>
  /** Waits until every client has finished its current action, retries included. */
  stop(): Promise<void>
}

interface LoadOptions {
  /** The present URLs of the service. */
  targets: () => string[]
  clients?: number
  /** The maximum time between two requests of a client. */
  thinkMs?: number
}

/** The WEBHOOK_SECRET that the service needs to accept the clients' feedback. */
export const FEEDBACK_SECRET = 'load-clients-feedback'

const BATCH = 12

/**
 * Clients that prevent losses and doubles as the guides recommend: creates with an Idempotency-Key or an externalId,
 * batches, edits with If-Match, feedback with a uuid. Each changes only its own tasks.
 */
export function startLoad({ targets, clients = 8, thinkMs = 10 }: LoadOptions): Load {
  const tally = newTally()
  const acknowledged: Acknowledged = { tasks: new Map(), batches: new Map(), events: new Map() }
  const lastResponses: number[] = Array(clients).fill(0)
  let isRunning = true

  const running = lastResponses.map(async (_, nth) => {
    const { send, close } = retryingClient(targets, tally)
    const actions = actionsOf(send, { known: acknowledged, tally })
    try {
      for (let turn = nth; isRunning; turn++) {
        await actions[turn % actions.length]?.()
        lastResponses[nth] = performance.now()
        await sleep(thinkMs * Math.random())
      }
    } finally {
      close()
    }
  })
  // A client that fails is reported by `stop`.
  for (const client of running) client.catch(() => {})

  return {
    tally,
    acknowledged,
    async recovery() {
      const since = performance.now()
      const all = Promise.all(running)
      while (lastResponses.some((time) => time <= since)) await Promise.race([sleep(5), all])
      return Math.max(...lastResponses) - since
    },
    async stop() {
      isRunning = false
      await Promise.all(running)
    },
  }
}

/** The actions of one client, in turn. */
function actionsOf(
  send: (outgoing: Outgoing) => Promise<ClientResponse>,
  { known, tally }: { known: Acknowledged; tally: Tally },
) {
  const own: string[] = []

  async function single() {
    const body = { title: `single ${randomUUID()}` }
    const response = await send({ ...POST_TASK, headers: { 'idempotency-key': randomUUID() }, body })
    if (isExpected(response, [201])) learn(response.body)
  }

  async function external() {
    const externalId = randomUUID()
    const response = await send({ ...POST_TASK, body: { title: `external ${externalId}`, externalId } })
    // 200 means that an earlier attempt succeeded.
    if (isExpected(response, response.attempts > 1 ? [200, 201] : [201])) learn(response.body)
  }

  async function bulk() {
    const listId = own.length > 0 ? await anyList() : undefined
    if (!listId) return
    const label = `batch ${randomUUID()}`
    const tasks = Array.from({ length: BATCH }, (_, nth) => ({ title: `${label} ${nth}`, labels: [label] }))
    const headers = { 'idempotency-key': label }
    const response = await send({ method: 'POST', path: '/api/tasks/bulk', headers, body: { listId, tasks } })
    if (!isExpected(response, [201])) return
    known.batches.set(label, tasks.length)
    for (const task of response.body.data) learn(task)
  }

  async function anyList(): Promise<string | undefined> {
    const response = await send({ method: 'GET', path: `/api/tasks/${own[0]}` })
    return isExpected(response, [200]) ? response.body.listId : undefined
  }

  async function event() {
    const title = `feedback ${randomUUID()}`
    const sent = feedback({ note: title })
    const headers = { authorization: `Bearer ${FEEDBACK_SECRET}` }
    const response = await send({ method: 'POST', path: '/api/analytics/webhook', headers, body: sent })
    if (!isExpected(response, response.attempts > 1 ? [200, 201] : [201])) return
    known.events.set(sent.uuid, response.body.taskId)
    known.tasks.set(response.body.taskId, { title, version: 1, status: 'open', notes: null })
  }

  /** One field at a time, so that each version has one activity. */
  async function edit() {
    const id = own[Math.floor(Math.random() * own.length)]
    const task = id && known.tasks.get(id)
    if (!id || !task) return
    const change =
      task.version % 2 === 0
        ? { notes: `edit ${randomUUID()}` }
        : { status: task.status === 'done' ? 'open' : 'done' }
    const path = `/api/tasks/${id}`
    const response = await send({
      method: 'PATCH',
      path,
      headers: { 'if-match': `"${task.version}"` },
      body: change,
    })
    // Stale after a retry: did the first attempt succeed?
    const isStale = response.status === 412 && response.attempts > 1
    const { body } = isStale ? await send({ method: 'GET', path }) : response
    const isDone =
      body?.version === task.version + 1 &&
      Object.entries(change).every(([name, value]) => body[name] === value)
    if (isDone) learn(body)
    else tally.unexpected.push(`PATCH ${response.status} ${JSON.stringify({ ...body, expected: change })}`)
  }

  async function read() {
    isExpected(await send({ method: 'GET', path: '/api/tasks?fields=summary&limit=20' }), [200])
  }

  /** Of a batch in summary form, which has no notes. */
  function learn({ id, title, version, status, notes = null }: Partial<AcknowledgedTask> & Summary) {
    if (!known.tasks.has(id)) own.push(id)
    known.tasks.set(id, { title, version, status, notes })
  }

  function isExpected({ status, body }: ClientResponse, expected: number[]): boolean {
    if (expected.includes(status)) return true
    tally.unexpected.push(`${status} ${JSON.stringify(body)}`)
    return false
  }

  return [single, external, edit, event, single, edit, bulk, read, edit]
}

const POST_TASK = { method: 'POST', path: '/api/tasks' }
