import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../support/api-client.ts'
import type { CodeHostFake } from '../support/code-host.ts'
import { deliver as deliverPush, type HostWebhook, itemDelivery } from '../support/code-host-deliveries.ts'
import type { HostItem } from '../support/code-host-items.ts'
import { deliver } from '../support/sources.ts'
import { readServed } from './served.ts'

export const HOST_TOKEN = 'token-of-the-code-host'

/** What the source of a dump has received; dumps before 0057 have it under another ID. */
export const STORED = { id: 'msg_stored', payload: { title: 'Aus einem Formular', id: 7 } }

/** It is part of responses. */
export const PUBLIC_URL = 'https://inlet.example.com'

/** A little of everything that a version stores. Its schema is the number of its last migration. */
export async function fill(inlet: Api, { schema, receiverUrl, host, repository }: Filled) {
  const access = await fillAccess(inlet)
  const places = await fillPlaces(inlet)
  const webhook =
    schema >= 44 ? await inlet.post('/api/webhooks', { name: 'Chat', url: receiverUrl }) : undefined
  const created = await fillTasks(inlet, { schema, ...places })
  if (schema >= 23) await fillComments(inlet, created.task.id)
  await fillRules(inlet, { schema, ...places })
  const feedback = await fillFeedback(inlet, { ...places, secret: access.webhookSecret })
  await inlet.post('/api/activity', {
    type: 'deploy.finished',
    message: 'Version 1.2 läuft 🚀',
    taskId: created.task.id,
    metadata: { commit: 'abc' },
  })
  const codehost = await sync(inlet, places.web.id)
  const source = schema >= 35 ? await fillSource(inlet, places.web.id) : undefined
  if (schema >= 36) {
    const query = { q: 'straße', status: ['open', 'in_progress'], sort: '-priority' }
    await inlet.post('/api/saved-filters', { name: 'Straßen', query })
  }
  const pushes = schema >= 25 ? await fillPushes(inlet, { schema, ...codehost, host, repository }) : undefined
  const pending = schema >= 54 ? await fillPending(inlet, places.web.id) : undefined
  return {
    ...access,
    idempotent: created.idempotent,
    feedback,
    ...(source && { source }),
    ...(webhook && { webhook }),
    ...(pushes && { pushes }),
    ...(pending && { pending }),
    served: await readServed(inlet, schema),
  }
}

interface Filled {
  schema: number
  receiverUrl: string
  host: CodeHostFake
  /** What `repositoryOf` returned. */
  repository: ReturnType<typeof repositoryOf>
}

async function fillAccess(inlet: Api) {
  const { id, key } = await inlet.post('/api/keys', { name: 'CI', scopes: ['tasks:read', 'tasks:write'] })
  const revoked = await inlet.post('/api/keys', { name: 'Revoked' })
  await inlet.delete(`/api/keys/${revoked.id}`)
  const { secret: webhookSecret } = await inlet.post('/api/webhook-secrets')
  const { headers } = await inlet.send('POST', '/api/sessions', { body: { key } })
  const [session = ''] = (headers.get('set-cookie') ?? '').split(';')
  return { key, keyId: id, revokedKey: revoked.key, webhookSecret, session }
}

async function fillPlaces(inlet: Api) {
  const web = await inlet.post('/api/projects', { name: 'Web – Über 日本' })
  const old = await inlet.post('/api/projects', { name: 'Old' })
  const list = await inlet.post(`/api/projects/${web.id}/lists`, { name: 'Später' })
  const archived = await inlet.post(`/api/projects/${old.id}/lists`, { name: 'Done with' })
  await inlet.post('/api/tasks', { title: 'In an archived project', listId: archived.id })
  await inlet.post(`/api/projects/${old.id}/archive`)
  return { web, old, list }
}

async function fillTasks(inlet: Api, { schema, list }: { schema: number; list: { id: string } }) {
  const path = '/api/tasks'
  const body = {
    title: 'Größe der Straße ändern 🛣️',
    description: "It's **bold**, with a \\ and a \t tab.\n\nÄÖÜ ß İ ı — 東京",
    priority: 'high',
    listId: list.id,
    externalId: 'bug-1',
    externalUrl: 'https://bugs.example.com/1',
    labels: ['Crash', 'Möwe', 'a "quoted", one'],
    assignees: ['Ada', 'Åsa'],
    metadata: { build: 12, nested: { list: [1, 'two', null, true] }, ü: 'ö' },
  }
  const key = 'the-same-request'
  const task = await inlet.post(path, body, { 'idempotency-key': key })
  const idempotent = { path, body, key, id: task.id }
  const { data: bulk } = await inlet.post(
    '/api/tasks/bulk',
    {
      listId: list.id,
      tasks: Array.from({ length: 5 }, (_, nth) => ({
        title: `Bulk ${nth}`,
        labels: ['bulk'],
        priority: 'low',
      })),
    },
    { 'idempotency-key': 'a-batch' },
  )
  const [done, reopened, started, deleted, restored] = bulk.map(
    ({ id }: { id: string }) => `/api/tasks/${id}`,
  )
  await inlet.patch(done, { status: 'done', notes: 'Fixed in **1.2**', labels: ['bulk', 'crash'] })
  await inlet.patch(reopened, { status: 'done' })
  await inlet.patch(reopened, { status: 'open', title: 'Reopened: naïve façade' })
  await inlet.patch(started, { status: 'in_progress', assignees: ['åsa'], description: 'Changed' })
  await inlet.delete(deleted)
  await inlet.delete(restored)
  await inlet.post(`${restored}/restore`)
  const { id: inbox } = await inlet.post(path, { title: 'In the default list' })
  if (schema >= 30) {
    const duplicate = await inlet.post(path, { title: 'In the default list, again' })
    await inlet.post(`/api/tasks/${duplicate.id}/merge`, { into: inbox })
  }
  if (schema >= 38) {
    await inlet.post(path, { title: 'Waits', listId: list.id, blockedBy: [task.id, bulk[0].id] })
  }
  if (schema >= 39) {
    const finished = await inlet.post(path, { title: 'Done under a claim' })
    await inlet.post(`/api/tasks/${finished.id}/claim`, {})
    await inlet.patch(`/api/tasks/${finished.id}`, { status: 'done' })
    const released = await inlet.post(path, { title: 'Claimed and released' })
    const { claim } = await inlet.post(`/api/tasks/${released.id}/claim`, {})
    await inlet.delete(`/api/tasks/${released.id}/claim?number=${claim.number}`)
    const held = await inlet.post(path, { title: 'Claimed' })
    await inlet.post(`/api/tasks/${held.id}/claim`, { leaseSeconds: 86_400 })
  }
  return { task, idempotent }
}

async function fillComments(inlet: Api, taskId: string) {
  const path = `/api/tasks/${taskId}/comments`
  await inlet.post(path, { body: 'Schön: *first* 🎈' })
  const edited = await inlet.post(path, { body: 'Second' })
  await inlet.patch(`/api/comments/${edited.id}`, { body: 'Second, edited' })
  const deleted = await inlet.post(path, { body: 'Gone' })
  await inlet.delete(`/api/comments/${deleted.id}`)
}

async function fillRules(inlet: Api, { schema, web }: { schema: number; web: { id: string } }) {
  const rule = await inlet.post('/api/rules', { content: 'Réponds en français.', priority: 10.5 })
  await inlet.patch(`/api/rules/${rule.id}`, { content: 'Réponds toujours en français.' })
  await inlet.patch(`/api/rules/${rule.id}`, { priority: -1 })
  await inlet.post(`/api/rules/${rule.id}/revert`, { version: 2 })
  await inlet.post('/api/rules', { content: 'Inactive', isActive: false })
  await inlet.post('/api/rules', {
    content: 'Only for the web',
    projectId: web.id,
    ...(schema >= 41 && { paths: ['src/**/*.ts'] }),
  })
  const deleted = await inlet.post('/api/rules', { content: 'Deleted' })
  await inlet.delete(`/api/rules/${deleted.id}`)
}

async function fillFeedback(inlet: Api, { web, secret }: { web: { id: string }; secret: string }) {
  const targetProjectId = web.id
  await inlet.post('/api/webhook-routing', { name: 'Web', appMatch: 'com.example.web', targetProjectId })
  await inlet.post('/api/webhook-routing', {
    ...{ projectMatch: 'Mobile', appMatch: 'com.example.app', targetProjectId },
    isActive: false,
  })
  const properties = { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1' }
  const event = {
    uuid: randomUUID(),
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    timestamp: '2026-11-21T08:15:30.000Z',
    properties: { ...properties, note: 'Die Schaltfläche fehlt 😡', bundle_id: 'com.example.web' },
  }
  const send = (body: object) =>
    fetch(`${inlet.url}/api/analytics/webhook`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  // biome-ignore lint/suspicious/noExplicitAny: what a version returns is up to that version.
  const { taskId } = (await (await send(event)).json()) as any
  await send(event)
  await send({ ...event, uuid: randomUUID(), properties: { ...properties, note: '' } })
  await send({ ...event, uuid: randomUUID(), event: 'page_viewed' })
  await send({ ...event, uuid: randomUUID(), properties: { trigger: 'manual' } })
  return { event, taskId }
}

/** What the project of each dump follows. */
export function repositoryOf(host: CodeHostFake) {
  const repository = host.repository('acme/web', { isPrivate: true })
  repository.issue({ title: 'Überlauf in Zeile 3', labels: ['bug'], assignees: ['ada'], body: 'Ärger' })
  repository.issue({ title: 'Closed', state: 'closed', stateReason: 'not_planned' })
  repository.pull({ title: 'A pull request', body: null })
  return repository
}

async function sync(inlet: Api, projectId: string) {
  const connection = { repository: 'acme/web', token: HOST_TOKEN, schedule: 'off' }
  const { webhook } = await inlet.put(`/api/projects/${projectId}/codehost`, connection)
  let run = await inlet.post(`/api/codehost/${projectId}/sync`)
  while (run.status !== 'completed') {
    if (run.status === 'failed') throw new Error(JSON.stringify(run))
    await sleep(100)
    run = await inlet.get(`/api/codehost/${projectId}/syncs/${run.id}`)
  }
  return { projectId, webhook }
}

interface Pushing extends Pick<Filled, 'schema' | 'host' | 'repository'> {
  projectId: string
  webhook: HostWebhook
}

/** Two deliveries of the code host: one that is applied, and one that waits, because the code host fails from then on. */
async function fillPushes(inlet: Api, { schema, projectId, webhook, host, repository }: Pushing) {
  const to = { ...webhook, url: inlet.url + new URL(webhook.url).pathname }
  const path = schema >= 60 ? '/api/deliveries?receiver=codehost' : `/api/codehost/${projectId}/deliveries`
  const push = async (number: number, isDone: (latest: PushView) => boolean) => {
    const about = { api: host.url, repository: repository.about, action: 'edited' }
    const delivery = itemDelivery(repository.items.get(number) as HostItem, about)
    const deliveryId = randomUUID()
    const { status } = await deliverPush(to, delivery, { deliveryId })
    if (status !== 202) throw new Error(`The delivery of the code host returned ${status}.`)
    while (!isDone((await inlet.get(path)).data[0])) await sleep(50)
    return { deliveryId, delivery }
  }
  // Nothing has changed since the sync, so that only the code host knows whether it is newer.
  const applied = await push(1, ({ status, outcome = status }) => !['received', 'pending'].includes(outcome))
  host.fault({ status: 503 }, { times: Number.POSITIVE_INFINITY })
  const waiting = await push(2, ({ attempts }) => attempts > 0)
  return { webhook, applied, waiting }
}

/** What has a status in the earlier versions has an outcome in others. */
interface PushView {
  status: string
  outcome?: string
  attempts: number
}

async function fillSource(inlet: Api, projectId: string) {
  const source = await inlet.post('/api/sources', {
    name: 'Forms',
    projectId,
    verify: { scheme: 'standard_webhooks' },
    template: { title: '{{ payload.title }}', externalId: '{{ payload.id }}' },
  })
  const { status } = await deliver(inlet, { source, ...STORED })
  if (status !== 201) throw new Error(`The delivery returned ${status}.`)
  return source
}

const LOOP =
  '{% if payload.loop %}{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}{% endif %}'

/** A delivery that waits, because its source has used up its share of time. */
async function fillPending(inlet: Api, projectId: string) {
  const source = await inlet.post('/api/sources', {
    name: 'Slow',
    projectId,
    verify: { scheme: 'standard_webhooks' },
    template: { title: `${LOOP}{{ payload.title }}` },
  })
  await deliver(inlet, { source, payload: { loop: true } })
  const sent = { id: 'msg_pending', payload: { title: 'Wartet noch' } }
  const { status } = await deliver(inlet, { source, ...sent })
  if (status !== 202) throw new Error(`The delivery returned ${status}.`)
  return { source, ...sent }
}
