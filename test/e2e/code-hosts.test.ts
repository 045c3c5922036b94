import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import { delayRequests, expectNone, testWith, violationsOn } from './support/browser.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startSyncing({ tokens: { fresh: {}, old: {} } })))

/** How often a page has scrolled to its webhook. */
const COUNT_SCROLLS = `
  window.scrolls = 0
  const { scrollIntoView } = Element.prototype
  Element.prototype.scrollIntoView = function (...given) {
    if (this.ariaLabel === 'Webhook') scrolls++
    return scrollIntoView.apply(this, given)
  }`

describe('the code hosts', () => {
  test('say what to do while there is no repository, and which projects have none', async ({ app }) => {
    const { body: project } = await app.service.post('/api/projects', { name: 'Website' })
    await app.service.post(`/api/projects/${project.id}/archive`)
    const page = await app.open('/settings/code-hosts')
    await page.getByText('No repositories yet').waitFor()
    await expectNone(page, page.getByRole('list', { name: 'projects' }).getByText('Website'))
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('link', { name: 'Connect repository' }).click()
    await page.getByLabel('Repository').waitFor()
  })

  test('say what to do while every project is archived', async ({ app }) => {
    const { id: projectId } = await app.service.given.project()
    await app.service.post(`/api/projects/${projectId}/archive`)
    const key = await app.service.given.key({ projectId })
    const page = await app.open('/settings/code-hosts', { key })
    await page.getByText('No active projects').waitFor()
    await expectNone(page, page.getByText('Choose one of these projects'))
    expect(await violationsOn(page)).toEqual([])
  })

  test('scroll to the webhook that a link names once, and not against the person', async ({ app }) => {
    const { service } = app
    const { project } = await service.connected({ token: 'fresh' })
    const path = `${service.url}/projects/${project.id}?show=webhook`
    const page = await app.open('/tasks', { viewport: { width: 1_200, height: 420 } })
    await page.addInitScript(COUNT_SCROLLS)
    const scrolls = () => page.evaluate('window.scrolls')
    const polled = () => page.waitForResponse((response) => response.url().endsWith(`${project.id}/codehost`))
    const secret = page.getByRole('region', { name: 'Webhook' }).getByRole('button', { name: /secret/ })
    await page.goto(path)
    await expect.poll(scrolls).toBe(1)
    await page.getByRole('button', { name: 'Edit connection' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await secret.waitFor()
    await polled()
    expect(await scrolls()).toBe(1)

    const load = await delayRequests(page, { url: /\/syncs/ })
    await page.goto(path)
    await secret.waitFor()
    await page.keyboard.press('PageDown')
    const loaded = page.waitForResponse(/\/syncs/)
    load()
    await loaded
    await polled()
    expect(await scrolls()).toBe(0)
  })

  test('say when each repository was synced, and why one fails', async ({ app }) => {
    const { service } = app
    const { repository, sync } = await service.connected({ token: 'fresh' }, 1)
    await sync()
    const other = await service.connected({ token: 'old' })
    const page = await app.open('/settings/code-hosts', { isLive: true })
    const rowOf = ({ name }: { name: string }) => page.getByRole('listitem').filter({ hasText: name })
    await rowOf(repository).getByText('last synced').waitFor()
    await rowOf(other.repository).getByText('never synced').waitFor()
    await rowOf(other.repository).getByRole('link', { name: 'Edit connection' }).waitFor()

    await rowOf(other.repository).getByRole('button', { name: 'Sync' }).click()
    await rowOf(other.repository).getByText('last synced').waitFor({ timeout: 15_000 })

    service.host.tokens.delete('old')
    await rowOf(other.repository).getByRole('button', { name: 'Sync' }).click()
    await rowOf(other.repository).getByText('Failing').waitFor({ timeout: 15_000 })
    await rowOf(other.repository)
      .getByText(/^Sync: .*token/)
      .waitFor()
    await expectNone(page, rowOf(repository).getByText('Failing'))
    expect(await violationsOn(page)).toEqual([])
    await rowOf(other.repository).getByRole('link', { name: 'Renew token' }).click()
    await page.waitForURL(`${service.url}/projects/${other.project.id}?edit=connection`)
    await page.getByRole('button', { name: 'Save connection' }).waitFor()
  })
})
