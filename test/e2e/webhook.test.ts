import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { test, testWith } from './support/browser.ts'

/** As the platform fills a template: a text that is nothing but a placeholder becomes the value itself. */
function filled(template: unknown, globals: Record<string, unknown>): unknown {
  if (typeof template === 'string') {
    const path = /^\{([\w.]+)\}$/.exec(template)?.[1]?.split('.')
    // biome-ignore lint/suspicious/noExplicitAny: whatever the path leads to.
    return path ? path.reduce((value: any, name) => value?.[name], globals) : template
  }
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, globals)]))
}

describe('the feedback webhook', () => {
  test('works with the address, the secret and the body of the page', async ({ app }) => {
    const page = await app.open('/settings/webhook')
    await page.getByRole('button', { name: 'Create secret' }).click()
    const dialog = page.getByRole('dialog', { name: 'Webhook secret' })
    const secret = await dialog.locator('pre').first().innerText()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await page.getByText(`…${secret.slice(-4)}`).waitFor()

    const blocks = await page.locator('pre').allInnerTexts()
    const address = blocks.find((text) => text.startsWith('http')) ?? ''
    const template = JSON.parse(blocks.find((text) => text.includes('{event.')) ?? '')
    const event = {
      uuid: '01890000-0000-7000-8000-000000000001',
      event: 'feedback_submitted',
      distinct_id: 'user-1',
      timestamp: '2026-01-31T12:00:00.000Z',
      properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'By the template' },
    }
    const send = () =>
      fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(filled(template, { event })),
      })
    expect((await send()).status).toBe(201)
    expect((await send()).status).toBe(200)
    const { body } = await app.service.get('/api/tasks?q=By the template')
    expect(body.data).toHaveLength(1)
    await page.getByRole('link', { name: 'incoming deliveries', exact: true }).click()
    await page.getByText('Loved: By the template').waitFor()
    await page.getByText('sent 2 times').waitFor()
  })
})

const configured = testWith(() =>
  startApp({
    env: {
      PUBLIC_URL: 'https://inlet.example',
      WEBHOOK_PORT: '3777',
      WEBHOOK_SECRET: 'a-secret-of-the-environment-0123456789',
    },
  }),
)

describe('the secrets of the webhook', () => {
  test('are at most two, rotated and revoked', async ({ app }) => {
    const page = await app.open('/settings/webhook')
    await page.getByText('No secret is set, so all feedback is rejected').waitFor()
    const storedSecret = async () => {
      const dialog = page.getByRole('dialog', { name: 'Webhook secret' })
      const secret = await dialog.locator('pre').first().innerText()
      await dialog.getByRole('button', { name: "I've stored it" }).click()
      await dialog.waitFor({ state: 'detached' })
      return secret
    }
    const works = (secret: string) => app.service.service.access.isWebhookSecret(secret)
    const item = (secret: string) => page.getByRole('listitem').filter({ hasText: `…${secret.slice(-4)}` })
    await page.getByRole('button', { name: 'Create secret' }).click()
    const first = await storedSecret()
    await item(first).getByRole('button', { name: 'Rotate' }).click()
    const second = await storedSecret()
    await item(first)
      .getByText(/expires/)
      .waitFor()
    expect([await works(first), await works(second)]).toEqual([true, true])
    await expect.poll(() => page.getByRole('button', { name: 'Create secret' }).isDisabled()).toBe(true)
    await expect.poll(() => item(second).getByRole('button', { name: 'Rotate' }).isDisabled()).toBe(true)

    await item(first).getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await works(first)).toBe(true)
    await item(first).getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke secret' }).click()
    await item(first).waitFor({ state: 'detached' })
    await expect.poll(async () => [await works(first), await works(second)]).toEqual([false, true])
  })

  configured('exist beside the secret of the environment, at the configured address', async ({ app }) => {
    const page = await app.open('/settings/webhook')
    await page
      .locator('pre')
      .filter({ hasText: /^https:\/\/inlet\.example\/api\/analytics\/webhook$/ })
      .waitFor()
    await page.getByText('listens on port 3777').waitFor()
    await page.getByText(/The secret in WEBHOOK_SECRET is accepted/).waitFor()
  })
})

describe('an empty page', () => {
  test.for([
    ['/settings/instructions', '/api/rules'],
    ['/settings/routing', '/api/webhook-routing'],
    ['/settings/keys', '/api/me'],
  ] as const)('%s has a curl command with the real address', async ([path, endpoint], { app }) => {
    const page = await app.open(path)
    await page
      .locator('pre')
      .filter({ hasText: `curl -s ${app.service.url}${endpoint}` })
      .first()
      .waitFor()
  })

  test('of a project without a repository has a curl command that connects one', async ({ app }) => {
    const project = await app.service.given.project()
    const page = await app.open(`/projects/${project.id}`)
    await page
      .locator('pre')
      .filter({ hasText: `${app.service.url}/api/projects/${project.id}/codehost` })
      .waitFor()
  })
})
