import { createHmac } from 'node:crypto'
import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'
import { testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))

describe('a source', () => {
  test('is written beside the task that a payload makes, and makes it', async ({ app }) => {
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Contact form')
    await page
      .getByRole('textbox', { name: 'Payload' })
      .fill('{"subject": "Export fails", "text": "It does nothing.", "urgent": true}')
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('rendered nothing').waitFor()
    await page.getByText('Advanced').click()
    await page.getByRole('textbox', { name: 'Title' }).fill('{{ payload.subject | upcase }}')
    await preview.getByRole('article', { name: 'EXPORT FAILS' }).waitFor()
    await page.getByRole('textbox', { name: 'Priority' }).fill('{% if payload.urgent %}high{% endif %}')
    await preview.getByText('high', { exact: true }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Only if' }).fill('payload.nothing')
    await preview.getByText('The filter excludes this payload').waitFor()
    await page.getByRole('textbox', { name: 'Only if' }).fill('')
    await page.getByRole('button', { name: 'Create source' }).click()

    const dialog = page.getByRole('dialog', { name: 'Secret of “Contact form”' })
    await dialog.locator('pre').first().waitFor()
    const [url = '', secret = '', curl = ''] = await dialog.locator('pre').allInnerTexts()
    expect(curl).toContain(`-H 'Authorization: Bearer ${secret}'`)
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{"subject": "Save fails", "urgent": true}',
    })
    expect(response.status).toBe(201)

    await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
    const delivery = page.getByRole('listitem').filter({ hasText: 'Accepted' })
    await delivery.getByRole('button', { name: 'Save fails' }).click()
    await delivery.getByText('"Save fails"').waitFor()
    await delivery.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Delivery replayed and accepted').waitFor()
    await page.goto(`${app.service.url}/tasks`)
    await page.getByText('SAVE FAILS').first().waitFor()
  })

  test('is signed with a prefix, goes to a list, and is edited beside its latest delivery', async ({
    app,
  }) => {
    const { service } = app
    const { inbox, id: projectId } = await service.given.project({ name: 'Mobile' })
    const list = await service.given.list(projectId, { name: 'Crashes' })
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    const choose = async (field: string, option: string) => {
      await page.getByRole('combobox', { name: field }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    await page.getByRole('textbox', { name: 'Name' }).fill('Crash reporter')
    await page.getByText('Advanced').click()
    await page.getByRole('textbox', { name: 'External ID' }).fill('{{ payload.title }}')
    await choose('Project', 'Mobile')
    await choose('List', 'Crashes')
    await choose('Verification', 'HMAC-SHA256 of the body in a header')
    await page.getByLabel('Header').fill('X-Hub-Signature-256')
    await page.getByLabel('Prefix').fill('sha256=')
    await page.getByLabel('Secret of the sender').fill('secret-of-the-sender')
    await page.getByRole('button', { name: 'Create source' }).click()
    const dialog = page.getByRole('dialog', { name: 'Secret of “Crash reporter”' })
    await dialog.locator('pre').first().waitFor()
    const [url = ''] = await dialog.locator('pre').allInnerTexts()
    await dialog.getByRole('button', { name: "I've stored it" }).click()

    const body = '{"title": "Crash on start"}'
    const signature = createHmac('sha256', 'secret-of-the-sender').update(body).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
    const response = await fetch(url, { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toMatchObject([201, { listId: list.id }])

    await page.getByRole('button', { name: 'Edit' }).click()
    const preview = page.getByRole('region', { name: 'Preview' })
    await page.getByText('The latest delivery of this source.').waitFor()
    const task = preview.getByRole('article', { name: 'Crash on start' })
    await task.getByText('Creates a task, or updates the one with the external ID Crash on start.').waitFor()
    await page.getByRole('combobox', { name: 'List' }).click()
    await page.getByRole('option', { name: 'Inbox', exact: true }).click()
    await page.getByRole('button', { name: 'Save source' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    const [source] = (await service.get(`/api/sources?projectId=${projectId}`)).body.data
    expect([source.listId, source.verify.prefix]).toEqual([inbox.id, 'sha256='])
  })

  test('asks before it replays a delivery that reopens a task that is done', async ({ app }) => {
    const { service } = app
    const { source, send } = await sourceOf(service, {
      name: 'Alerts',
      template: { title: '{{ item.title }}', externalId: '{{ item.id }}', status: 'open' },
    })
    const { taskId } = (await send({ id: 'disk', title: 'Disk full' })).body
    const status = async () => (await service.get(`/api/tasks/${taskId}`)).body.status
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    const page = await app.open('/settings/sources')
    const listed = page.getByRole('listitem').filter({ hasText: source.name })
    await listed.getByRole('link', { name: 'Deliveries', exact: true }).click()
    const delivery = page.getByRole('listitem').filter({ hasText: 'Accepted' })
    await delivery.locator('[aria-expanded]').click()
    await delivery.getByRole('button', { name: 'Replay' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay and reopen 1 task?' })
    await dialog.getByText('Reopens the task with the external ID disk, which is done.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await status()).toBe('done')
    await delivery.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Delivery replayed and accepted').waitFor()
    expect(await status()).toBe('open')
  })

  test('that makes feedback has no templates, and shows the tasks of the feedback webhook', async ({
    app,
  }) => {
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await page.getByText('Advanced').click()
    const clears = page.getByLabel('Clear “Labels” when this renders nothing')
    await page.getByRole('textbox', { name: 'Labels' }).fill('form')
    await clears.check()
    await page.getByRole('combobox', { name: 'Start from' }).click()
    await page.getByRole('option', { name: 'PostHog feedback' }).click()
    await page.getByText('Webhook routing decides which project they go to').waitFor()
    await expect.poll(() => page.getByRole('region', { name: 'Task' }).count()).toBe(0)
    await expect.poll(() => page.getByRole('combobox', { name: 'List' }).count()).toBe(0)
    await page.getByRole('article', { name: 'Export fails' }).waitFor()
    await page
      .getByRole('textbox', { name: 'Payload' })
      .fill(JSON.stringify(feedback({ note: 'Import fails' })))
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByRole('article', { name: 'Import fails' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page
      .getByRole('textbox', { name: 'Payload' })
      .fill(JSON.stringify(feedback({}, { event: '$pageview' })))
    await preview.getByText('Only feedback_submitted events create tasks').waitFor()
    await page.getByRole('button', { name: 'Create source' }).click()
    const dialog = page.getByRole('dialog', { name: 'Secret of “PostHog feedback”' })
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'PostHog feedback' })
    await item.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Renamed feedback')
    await page.getByRole('button', { name: 'Save source' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Renamed feedback' }).waitFor()
    const [source] = (await app.service.get('/api/sources')).body.data.filter(
      ({ mapping }: { mapping: string }) => mapping === 'feedback',
    )
    expect(source).toMatchObject({ name: 'Renamed feedback', template: null })
  })

  test('starts from a preset, and is edited, turned off, and deleted', async ({ app }) => {
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await page.getByRole('combobox', { name: 'Start from' }).click()
    await page.getByRole('option', { name: 'Grafana alerts' }).click()
    await page.getByRole('button', { name: 'Remove payload.alerts (A task for each)' }).waitFor()
    await page.getByRole('button', { name: 'Create source' }).click()
    const dialog = page.getByRole('dialog', { name: 'Secret of “Grafana alerts”' })
    await dialog.getByRole('button', { name: "I've stored it" }).click()

    const item = page.getByRole('listitem').filter({ hasText: 'Grafana alerts' })
    await item.getByRole('button', { name: 'Edit' }).click()
    await page.getByText('Advanced').click()
    const title = page.getByRole('textbox', { name: 'Title' })
    await title.fill('{{ item.labels.alertname | nothing }}')
    await page.getByRole('button', { name: 'Save source' }).click()
    await page
      .getByText(/undefined filter/)
      .first()
      .waitFor()
    await title.fill('{{ item.labels.alertname }}')
    await page.getByRole('button', { name: 'Save source' }).click()
    const active = item.getByRole('switch', { name: '“Grafana alerts” is active' })
    await active.click({ force: true })
    await expect.poll(() => active.isChecked()).toBe(false)
    const sources = async () => (await app.service.get('/api/sources')).body.data
    const [source] = (await sources()).filter(({ name }: { name: string }) => name === 'Grafana alerts')
    expect(source).toMatchObject({ isActive: false, template: { title: '{{ item.labels.alertname }}' } })
    const choose = async (action: string) => {
      await item.getByRole('button', { name: 'Actions for “Grafana alerts”' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Rotate secret')
    const rotation = page.getByRole('dialog', { name: 'Rotate the secret of “Grafana alerts”' })
    await rotation.getByRole('button', { name: 'Cancel' }).click()
    await rotation.waitFor({ state: 'detached' })
    await choose('Rotate secret')
    await rotation.getByLabel('Secret of the sender').fill('short')
    await rotation.getByRole('button', { name: 'Rotate secret' }).click()
    await rotation.getByText('must have at least').first().waitFor()
    await rotation.getByLabel('Secret of the sender').fill('the secret of the sender')
    await rotation.getByRole('button', { name: 'Rotate secret' }).click()
    await rotation.getByText('must be ASCII characters without spaces').first().waitFor()
    await rotation.getByLabel('Secret of the sender').fill('secret-of-the-sender')
    await rotation.getByLabel('Accept the previous secret').click({ force: true })
    await rotation.getByRole('button', { name: 'Rotate secret' }).click()
    await dialog.getByText('secret-of-the-sender').waitFor()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await choose('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete source' }).click()
    await item.waitFor({ state: 'detached' })
  })
})
