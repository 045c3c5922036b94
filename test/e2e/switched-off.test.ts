import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { sourceOf } from '../support/sources.ts'
import { SENDING_ENV, startReceiver, webhookTo } from '../support/webhooks.ts'
import { expectNone, testWith, violationsOn } from './support/browser.ts'
import { expectGone, failing, markOf, SOON } from './support/failing.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startApp({ env: SENDING_ENV })))

const SLOW =
  '{% if item.loop %}{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}{% endif %}A'
const WRONG = { secret: `whsec_${'A'.repeat(44)}` }

describe('what Inlet has switched off says why, and is turned on one click from Overview:', () => {
  test('a webhook whose receiver is gone', async ({ app }) => {
    const receiver = await startReceiver()
    receiver.respondWith(410)
    await webhookTo(app.service, { name: 'Chat', url: receiver.url, types: ['task.created'] })
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await app.service.post('/api/tasks', { title: 'Sent' })
    await markOf(page).waitFor(SOON)
    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.getByText('task.created: Sent').waitFor()
    await page.getByText('the receiver responded with 410 Gone').waitFor()
    await expectNone(page, page.getByRole('button', { name: 'Retry' }))
    expect(await violationsOn(page)).toEqual([])
    receiver.respondWith(204)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('the receiver responded with 410 Gone').waitFor({ state: 'detached' })
    await expectGone(page)
    expect(receiver.received.at(-1)?.body.task.title).toBe('Sent')
    await receiver.close()
  })

  test('a source whose templates are too slow', async ({ app }) => {
    const { service } = app
    const { source, send } = await sourceOf(service, { template: { title: SLOW } })
    await service.query('update sources set slow_deliveries = 9 where id = $1', [source.id])
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await send({ loop: true })
    await markOf(page).waitFor(SOON)
    expect((await send({ title: 'Refused' })).status).toBe(401)
    await failing(page)
      .getByText(/turned off because ten deliveries in a row took too long/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'Open source' }).click()
    await page.getByText('Turned off because ten deliveries in a row took too long').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('Turned off because').waitFor({ state: 'detached' })
    expect((await send({})).status).toBe(201)
    await expectGone(page)
  })
})

describe('the mark of what fails goes at once', () => {
  test('when a source is turned off', async ({ app }) => {
    const { send } = await sourceOf(app.service)
    await send({ title: 'One' }, WRONG)
    const page = await app.open('/settings/sources', { isLive: true })
    await markOf(page).waitFor(SOON)
    await page.getByRole('switch', { name: '“Forms” is active' }).click({ force: true })
    await expectGone(page)
  })

  test('when a webhook is deleted', async ({ app }) => {
    const receiver = await startReceiver()
    receiver.respondWith(500)
    const { id } = await webhookTo(app.service, { name: 'Chat', url: receiver.url })
    await app.service.post(`/api/webhooks/${id}/test`)
    const page = await app.open('/settings/outgoing', { isLive: true })
    await markOf(page).waitFor(SOON)
    await page.getByRole('button', { name: 'Actions for “Chat”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
    await expectGone(page)
    await receiver.close()
  })
})

test('who may not mend what fails is not led there', async ({ app }) => {
  const { source, send } = await sourceOf(app.service)
  await send({ title: 'One' }, WRONG)
  const key = await app.service.given.key({ scopes: ['tasks:read'], projectId: source.projectId })
  const page = await app.open('/overview', { key, isLive: true })
  await failing(page).getByText('The last attempt failed.').waitFor()
  await expectNone(page, failing(page).getByRole('link'))
})
