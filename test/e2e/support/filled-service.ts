import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../../support/feedback.ts'
import { countAll } from '../../support/overview.ts'
import { FORM_TEMPLATE, sourceOf } from '../../support/sources.ts'
import { workOnStatus } from '../../support/status.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { deliverDue, SENDING_ENV, startReceiver, webhookTo } from '../../support/webhooks.ts'
import { givenPerson } from './people.ts'

export type Filled = Awaited<ReturnType<typeof startFilled>>

/** A service with something to show on every page, and an owner who may see it. */
export async function startFilled() {
  const service = await startSyncing({ env: { ...SENDING_ENV, WEBHOOK_SECRET }, tokens: { expired: {} } })
  const ids = await fill(withoutRefusals(service))
  // Browsers allow no passkeys at an IP address.
  return { ...service, ids, url: service.url.replace('127.0.0.1', 'localhost') }
}

/** The same service, whose writes throw unless they succeed. */
function withoutRefusals(service: Syncing): Syncing {
  const checked =
    (write: Syncing['post']): Syncing['post'] =>
    async (path, body, options) => {
      const response = await write(path, body, options)
      if (response.status >= 400) throw new Error(`${path}: ${JSON.stringify(response.body)}`)
      return response
    }
  const { post, put, patch } = service
  return { ...service, post: checked(post), put: checked(put), patch: checked(patch) }
}

async function fill(service: Syncing) {
  await givenPerson({ service }, { username: 'mira', name: 'Mira Lindqvist', role: 'owner' })
  const mobile = await givenRepository(service)
  const website = await givenFailingSync(service)
  const group = await givenFeedback(service, mobile.id)
  await givenSource(service, website.id)
  const tasks = await givenTasks(service, mobile)
  await givenWebhooks(service)
  const deactivated = await givenPeople(service, website.id)
  await givenSettings(service, website.id)
  const empty = await service.given.project({ name: 'Nothing yet' })
  const crowded = await givenCrowd(service)
  while (await service.service.tasks.indexTexts());
  await countAll(service)
  await workOnStatus(service)
  return { mobile: mobile.id, website: website.id, empty: empty.id, crowded, deactivated, group, ...tasks }
}

/** More to triage than a list loads at first: archived, so that no other page has it. */
async function givenCrowd({ given, post, query }: Syncing): Promise<string> {
  const { id, inbox } = await given.project({ name: 'Old app' })
  await given.tasks(inbox, 300)
  await query('update tasks set triaged = false where project_id = $1', [id])
  await post(`/api/projects/${id}/archive`)
  return id
}

/** A repository with issues and pull requests in all states, two syncs, and deliveries of its webhook. */
async function givenRepository({ post, host, connected, given, patch }: Syncing) {
  const { project, repository, sync } = await connected()
  await patch(`/api/projects/${project.id}`, { name: 'Mobile app' })
  const next = await given.list(project.id, { name: 'Next release' })
  repository.issue({ title: 'Crash when the camera view rotates', labels: ['bug'], assignees: ['mira'] })
  repository.pull({ title: 'Cache avatars on disk', assignees: ['jonas'] })
  repository.issue({ title: 'Sign-in fails behind a proxy', labels: ['priority:high'] })
  repository.pull({ title: 'Upgrade the map library to 5.2' })
  repository.issue({ title: 'Show the distance in miles' })
  repository.issue({ title: 'Support dark mode on tablets' })
  await sync()
  repository.merge(2)
  repository.close(5, 'not_planned')
  repository.comment(1, { body: 'Seen on a **Pixel 9** too, see #3.' })
  await sync()
  const { body: webhook } = await post(`/api/projects/${project.id}/codehost/webhook-secret`)
  const item = repository.issue({ title: 'The widget shows yesterday' })
  const about = { api: host.url, repository: repository.about, action: 'opened' }
  await deliver(webhook, itemDelivery(item, about))
  await deliver(webhook, { event: 'watch', payload: { action: 'started' } })
  return { ...project, next, repository: repository.name }
}

/** A project whose token was refused. */
async function givenFailingSync({ connected, host, patch }: Syncing) {
  const { project, repository, sync } = await connected({ token: 'expired' })
  await patch(`/api/projects/${project.id}`, { name: 'Website' })
  repository.fill(12)
  await sync()
  host.tokens.set('expired', { canReadIssues: false })
  await sync().catch(() => {})
  return project
}

const NOTES: [note: string, sentiment: string, version: string][] = [
  ['Notifications arrive twice', 'frustrated', '2.3.0'],
  ['Notifications arrive twice!', 'frustrated', '2.3.1'],
  ['notifications arrive twice', 'meh', '2.3.1'],
  ['Notifications arrive twice', 'frustrated', '2.4.0'],
  ['The map is empty on tablets', 'frustrated', '2.3.1'],
  ['The map is empty on tablets.', 'meh', '2.3.1'],
  ['The new search is fast!', 'loved', '2.4.0'],
  ['لا تعمل ميزة التصدير إلى PDF في الإصدار 2.4', 'frustrated', '2.4.0'],
  ['Sort saved places by distance 🗺️', 'meh', '2.3.1'],
  [
    `When I export my saved places and then open the file on another device, ${'some of the places that I had renamed before have their old name again, and '.repeat(3)}the order is lost`,
    'frustrated',
    '2.3.1',
  ],
]

/** Returns the ID of a task that others equal. */
async function givenFeedback({ post, url }: Syncing, targetProjectId: string): Promise<string> {
  await post('/api/webhook-routing', { appMatch: 'com.acme.app', targetProjectId })
  await post('/api/webhook-routing', { projectMatch: 'Website', targetProjectId, isActive: false })
  await post('/api/webhook-routing', { appMatch: `com.${'acme.'.repeat(20)}app`, targetProjectId })
  const send = sender(url, WEBHOOK_SECRET)
  const ids: string[] = []
  for (const [note, sentiment, app_version] of NOTES) {
    const sent = feedback({ note, sentiment, app_version, bundle_id: 'com.acme.app', surface: 'ios' })
    ids.push((await send(sent)).body.taskId)
  }
  await send({ event: 'feedback_submitted', properties: { note: 7 } })
  await send({ event: '$pageview', properties: {} })
  await post('/api/webhook-secrets', {})
  return ids[0] ?? ''
}

async function givenSource(service: Syncing, projectId: string) {
  const source = await sourceOf(service, { name: 'Error tracker', projectId, template: FORM_TEMPLATE })
  const text = 'Since the deployment of 08:12.'
  const report = { text, state: 'open', priority: 'high', labels: ['alert', 'production'] }
  const { body } = await source.send({ ...report, title: 'Uploads time out above 20 MB', id: '4711' })
  await service.patch(`/api/tasks/${body.taskId}`, { status: 'done' })
  await source.send({ ...report, title: 'Search index grows by 2 GB a day', id: '4712' })
  await source.send({ text: 'No title' })
  const verify = { scheme: 'bearer' }
  const form = { name: 'Contact form of the website', projectId, verify, isActive: false }
  await service.post('/api/sources', { ...form, template: { title: '{{ payload.subject }}' } })
}

const DESCRIPTION = `A file with **1,001** rows arrives with 1,000.

1. Open *Reports*.
2. Click **Export**.
3. Count the rows.

| Version | Rows |
|---|---|
| 2.3.0 | 1,000 |
| 2.3.1 | 1,000 |

\`\`\`ts
for (let row = 0; row < rows.length - 1; row++) write(rows[row])
\`\`\``

async function givenTasks(
  { post, patch, delete: remove, given }: Syncing,
  { next, inbox }: { next: { id: string }; inbox: { id: string; projectId: string } },
) {
  const listId = inbox.id
  const create = async (body: object) => (await post('/api/tasks', { listId, ...body })).body
  const created = { triaged: true, priority: 'high', labels: ['bug', 'export'], assignees: ['mira'] }
  const blocker = await create({ title: 'Decide which formats we support', triaged: true, listId: next.id })
  const task = await create({
    ...created,
    title: 'Export to CSV drops the last row',
    description: DESCRIPTION,
    externalUrl: 'https://errors.acme.example/4711',
    blockedBy: [blocker.id],
  })
  await post(`/api/tasks/${task.id}/comments`, { body: 'I can reproduce it with **2.3.1**.' })
  await patch(`/api/tasks/${task.id}`, { status: 'in_progress', notes: 'Ask support for the file.' })
  const labels = Array.from({ length: 20 }, (_, index) => `area-${index + 1}`)
  await create({
    title: 'Has twenty labels, and a title that does not fit beside them',
    labels,
    triaged: true,
  })
  await create({ title: 'ترجمة التطبيق إلى العربية (RTL)', triaged: true, assignees: ['jonas', 'mira'] })
  await create({ title: 'W'.repeat(120), triaged: true, priority: 'low' })
  const claimed = await create({ title: 'Remove the unused location permission', triaged: true })
  const assistant = await given.key({ name: 'claude', scopes: ['tasks:read', 'tasks:write'] })
  await post(`/api/tasks/${claimed.id}/claim`, { leaseSeconds: 3_600 }, { key: assistant })
  const snoozed = await create({ title: 'Renew the certificate', triaged: true })
  await patch(`/api/tasks/${snoozed.id}`, { snoozedUntil: new Date(Date.now() + 86_400_000).toISOString() })
  const done = await create({ title: 'Push notifications on Android', triaged: true })
  await patch(`/api/tasks/${done.id}`, { status: 'done' })
  const gone = await create({ title: 'Written by mistake' })
  await remove(`/api/tasks/${gone.id}`)
  await remove(`/api/tasks/${(await create({ title: 'Asdf '.repeat(60), labels: ['junk'] })).id}`)
  return { task: task.id as string, gone: gone.id as string, claimed: claimed.id as string }
}

/** A webhook that works, and one that is refused. */
async function givenWebhooks(service: Syncing) {
  const receiver = await startReceiver()
  receiver.respond((response, { path }) => {
    if (path === '/hook') response.writeHead(204).end()
    else response.writeHead(401).end('bad signature')
  })
  const types = ['task.created', 'task.completed']
  await webhookTo(service, { name: 'Team chat', url: receiver.url, types })
  await webhookTo(service, { name: 'Reporting', url: receiver.url.replace('/hook', '/reports'), types })
  await service.post('/api/tasks', { title: 'Write the release notes', triaged: true })
  await deliverDue(service)
  await receiver.close()
}

/** Returns the ID of one who is deactivated. */
async function givenPeople(service: Syncing, projectId: string): Promise<string> {
  const { post } = service
  const projectIds = [projectId]
  await givenPerson({ service }, { username: 'ada', name: 'Ada Byron', role: 'member', projectIds })
  const { id } = await givenPerson({ service }, { username: 'jonas', name: 'Jonas', role: 'viewer' })
  await service.patch(`/api/users/${id}`, { isActive: false })
  await post('/api/invites', { name: 'Grace Hopper', role: 'viewer' })
  await post('/api/keys', { name: 'Error tracker', projectId, scopes: ['tasks:write'] })
  await post('/api/keys', { name: 'ci', scopes: ['admin'] })
  return id
}

async function givenSettings({ post, query }: Syncing, projectId: string) {
  const filters = await post('/api/saved-filters', { name: 'Crashes', query: { label: ['bug'] } })
  await query(
    `update saved_filters set key_id = null, user_id = (select id from users where username = 'mira')
     where id = $1`,
    [filters.body.id],
  )
  await post('/api/rules', { content: 'Run the tests before you mark a task as done.', priority: 30 })
  const paths = ['src/**/*.tsx', 'src/styles/**']
  await post('/api/rules', { content: '# Colours\n\nUse the tokens of `theme.ts`.', projectId, paths })
  await post('/api/rules', { content: 'Answer in English.', isActive: false, priority: 10 })
  const provider = { name: 'Keycloak', issuer: 'http://127.0.0.1:9/realms/acme', clientId: 'inlet' }
  await post('/api/identity-providers', { ...provider, clientSecret: 'secret' })
  // Only a browser can register a passkey.
  await query(
    `insert into passkeys (id, user_id, credential_id, public_key, counter, rp_id, transports, name, created_at)
     select gen_random_uuid(), id, 'given', '', 0, '127.0.0.1', '{}', 'Laptop', now() from users
     where username = 'mira'`,
  )
}
