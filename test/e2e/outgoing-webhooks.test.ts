import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { startWebhookWorker } from '../../src/jobs/webhooks.ts'
import { startApp } from '../support/app.ts'
import { pipeOf } from '../support/status.ts'
import { SENDING_ENV, startReceiver, verify, webhookTo } from '../support/webhooks.ts'
import { testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startApp({ env: SENDING_ENV })).extend(
  'receiver',
  async ({ app }, { onCleanup }) => {
    const receiver = await startReceiver()
    const worker = startWebhookWorker({
      ...{ webhookQueue: app.service.service.webhookQueue, logger: pino({ level: 'silent' }) },
      ...{ writeMs: 50, sendMs: 100 },
    })
    onCleanup(async () => {
      await worker.stop()
      await receiver.close()
    })
    return receiver
  },
)

describe('an outgoing webhook', () => {
  test('is added from the empty page, shows its secret once, and delivers what changes', async ({
    app,
    receiver,
  }) => {
    const page = await app.open('/settings/outgoing')
    await page.getByText('No webhooks yet').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    const form = page.getByRole('dialog', { name: 'Add a webhook' })
    await form.getByLabel('Name').fill('Chat')
    await form.getByLabel('URL').fill('https://127.0.0.2/hook')
    await form.getByLabel('Types of activity').fill('task.created')
    await form.getByLabel('Types of activity').press('Enter')
    await form.getByLabel('Types of activity').press('Tab')
    await form.getByRole('button', { name: 'Add webhook' }).click()
    await form.getByText('an address that is not public').waitFor()
    await form.getByLabel('URL').fill(receiver.url)
    expect(await violationsOn(page)).toEqual([])
    await form.getByRole('button', { name: 'Add webhook' }).click()

    const dialog = page.getByRole('dialog', { name: 'Secret of “Chat”' })
    const secret = await dialog.locator('pre').first().innerText()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'Chat' })
    await item.getByText('task.created').waitFor()
    await app.service.post('/api/tasks', { title: 'Sent to the chat' })
    await expect.poll(() => receiver.received.length).toBe(1)
    const [received] = receiver.received
    if (!received) throw new Error('Nothing arrived.')
    expect(verify(received, secret)).toMatchObject({ task: { title: 'Sent to the chat' } })

    await item.getByRole('link', { name: 'Deliveries' }).click()
    const delivery = page.getByRole('listitem').filter({ hasText: 'delivered' })
    await delivery.getByText('HTTP 204').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await delivery.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Delivery is being sent again').waitFor()
    await expect.poll(() => receiver.received.length).toBe(2)
    await page.getByRole('button', { name: 'Back to webhooks' }).click()
    await item.waitFor()
  })

  test('that fails says why, and is tested, edited, turned on again, rotated, and deleted', async ({
    app,
    receiver,
  }) => {
    receiver.respond((response) => response.writeHead(401).end('bad signature'))
    const { id } = await webhookTo(app.service, {
      name: 'Broken',
      url: receiver.url,
      types: ['task.created'],
    })
    await app.service.post('/api/tasks', { title: 'Not taken' })
    const state = async () => (await pipeOf(app.service, { kind: 'webhook', id })).state
    await expect.poll(state).toBe('failing')
    const page = await app.open('/settings/outgoing')
    const item = page.getByRole('listitem').filter({ hasText: 'Broken' })
    await item.getByText('Failing').waitFor()
    await item.getByText('The receiver responded with 401.').waitFor()
    const tries = receiver.received.length
    await item.getByRole('button', { name: 'Retry all' }).click()
    await page.getByText('Deliveries are being sent again, oldest first').waitFor()
    await expect.poll(() => receiver.received.length).toBeGreaterThan(tries)
    await item.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByText('task.created: Not taken').waitFor()
    await page.getByRole('radiogroup', { name: 'Outcome' }).getByText('Failed').click()
    const delivery = page.getByRole('listitem').filter({ hasText: 'HTTP 401' })
    await delivery.getByRole('button', { name: 'task.created: Not taken' }).click()
    await delivery.getByText('bad signature').waitFor()
    await delivery.getByRole('link', { name: 'View task' }).waitFor()
    receiver.respondWith(410)
    await delivery.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Delivery is being sent again').waitFor()
    await page.getByRole('button', { name: 'Back to webhooks' }).click()
    await page.reload()
    await item.getByText('responded with 410 Gone').waitFor()
    expect(await violationsOn(page)).toEqual([])

    const choose = async (action: string) => {
      await item.getByRole('button', { name: 'Actions for “Broken”' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Send a test')
    await page.getByText('The test failed').waitFor()
    receiver.respondWith(200)
    await item.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit “Broken”' })
    await form.getByLabel('URL').fill(`${receiver.url}/mended`)
    await form.getByRole('button', { name: 'Save webhook' }).click()
    await item.getByText('/mended').waitFor()
    await choose('Send a test')
    await page.getByText('Test delivered: HTTP 200').waitFor()
    await item.getByRole('switch', { name: '“Broken” is active' }).click({ force: true })
    await item.getByText('410 Gone').waitFor({ state: 'detached' })
    await expect.poll(() => receiver.received.at(-1)?.body.task?.title).toBe('Not taken')

    await choose('Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const secret = page.getByRole('dialog', { name: 'Secret of “Broken”' })
    await secret.locator('pre').filter({ hasText: 'whsec_' }).waitFor()
    await secret.getByRole('button', { name: "I've stored it" }).click()
    await choose('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByText('No webhooks yet').waitFor()
  })
})
