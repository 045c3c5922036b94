import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallOptions, startApp, type TestApp } from '../support/app.ts'
import { authenticator } from '../support/authenticator.ts'
import { feedback, WEBHOOK_SECRET } from '../support/feedback.ts'
import { cookieIn, PUBLIC_URL, withCookie } from '../support/passkeys.ts'
import { PASSWORD, person } from '../support/people.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

let service: TestApp
let project: { id: string }
let list: { id: string }
let task: { id: string }
let source: { id: string; secret: string }
let invite: { secret: string }
beforeAll(async () => {
  service = await startApp({ env: { WEBHOOK_SECRET, PUBLIC_URL, ...SENDING_ENV } })
  project = (await service.post('/api/projects', { name: 'App' })).body
  list = (await service.post(`/api/projects/${project.id}/lists`, { name: 'Next' })).body
  task = (await service.post('/api/tasks', { title: 'A task' })).body
  source = (await service.post('/api/sources', sourceOf(project))).body
  invite = (await service.post('/api/invites', { name: 'Ada', role: 'member' })).body
})
afterAll(() => service.close())

const sourceOf = ({ id: projectId }: { id: string }) => ({
  ...{ name: 'Alerts', projectId, verify: { scheme: 'bearer' }, template: { title: '{{ payload.title }}' } },
})

/** A passkey for the account of somebody. */
async function newPasskey(): Promise<Creating> {
  const ada = await person(service)
  const begun = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
  const credential = authenticator(PUBLIC_URL).create(begun.body)
  return ['/api/me/passkeys', { name: 'Laptop', credential }, withCookie(ada, cookieIn(begun))]
}

type Creating = [path: string, body: object, credentials?: CallOptions]

const bearing = (secret: string) => ({ key: null, headers: { authorization: `Bearer ${secret}` } })

/** By operation of the API description: a body that it creates something of. */
const CREATING: Record<string, () => Creating | Promise<Creating>> = {
  createSession: () => ['/api/sessions', { key: service.adminKey }],
  createKey: () => ['/api/keys', { name: 'A key' }],
  createPersonalKey: async () => ['/api/me/keys', { name: 'A key' }, (await person(service)).with],
  createInvite: () => ['/api/invites', { name: 'Bob', role: 'viewer' }],
  acceptInvite: () => ['/api/invites/accept', { secret: invite.secret, username: 'ada', password: PASSWORD }],
  addPasskey: newPasskey,
  createWebhookSecret: () => ['/api/webhook-secrets', {}],
  createTask: () => ['/api/tasks', { title: 'Another' }],
  createTasksInBulk: () => ['/api/tasks/bulk', { listId: list.id, tasks: [{ title: 'One of many' }] }],
  createSavedFilter: () => ['/api/saved-filters', { name: 'Mine', query: { status: ['open'] } }],
  createComment: () => [`/api/tasks/${task.id}/comments`, { body: 'A comment.' }],
  createProject: () => ['/api/projects', { name: 'Another' }],
  createList: () => [`/api/projects/${project.id}/lists`, { name: 'Another' }],
  createSource: () => ['/api/sources', sourceOf(project)],
  createWebhook: () => ['/api/webhooks', { name: 'Chat', url: 'http://127.0.0.1:9/hook', isActive: false }],
  createIdentityProvider: () => [
    '/api/identity-providers',
    { name: 'Acme', issuer: 'https://login.example.com', clientId: 'inlet', clientSecret: 's' },
  ],
  createRule: () => ['/api/rules', { content: 'Be kind.' }],
  logActivity: () => ['/api/activity', { type: 'deploy.finished' }],
  createRoutingRule: () => ['/api/webhook-routing', { appMatch: 'x', targetProjectId: project.id }],
  receiveFeedback: () => ['/api/analytics/webhook', feedback(), bearing(WEBHOOK_SECRET)],
  receiveSourceDelivery: () => [`/in/sources/${source.id}`, { title: 'An alert' }, bearing(source.secret)],
}

test('each response that creates has a Location that can be read with the same credentials, or none', async () => {
  const { body: api } = await service.get('/openapi.json')
  const operations = Object.entries(api.paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, { post, get }]) =>
      post?.responses['201'] ? [{ path, post, isReadable: get !== undefined }] : [],
  )
  expect(operations.map(({ post }) => post.operationId).toSorted()).toEqual(Object.keys(CREATING).toSorted())
  for (const { post } of operations) {
    const [path, body, credentials = {}] = (await CREATING[post.operationId]?.()) ?? ['', {}]
    const made = await service.post(path, body, credentials)
    expect([path, made.status]).toEqual([path, 201])
    const location = made.headers.get('location')
    const isDescribed = Boolean(post.responses['201']?.headers?.location)
    expect([path, location !== null]).toEqual([path, isDescribed])
    if (location === null) continue
    const read = await service.get(location, credentials)
    expect([location, read.status, read.body.id]).toEqual([location, 200, made.body.id])
  }
})

interface Operation {
  operationId: string
  responses: Record<string, { headers?: Record<string, unknown> }>
}
