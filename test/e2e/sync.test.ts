import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import type { Page } from '../tools/playwright.ts'
import { expectNone, panelOf, rowOf, testWith, violationsOn } from './support/browser.ts'

const test = testWith(() =>
  // A host that is slow on purpose is not one that does not answer.
  startSyncing({ tokens: { fresh: {}, weak: { canReadIssues: false } }, hostTimeoutMs: 60_000 }),
)

const sectionOf = (page: Page) => page.getByRole('region', { name: 'Code host' })
const runsOf = (page: Page) => sectionOf(page).getByRole('listitem')
const start = (page: Page) => sectionOf(page).getByRole('button', { name: 'Sync issues & PRs' }).click()

describe('the sync of a repository', () => {
  test('is set up from the sidebar and shows its progress and result', async ({ app }) => {
    const { host } = app.service
    const repository = host.repository('acme/shop')
    repository.fill(800)
    repository.merge(5)
    await app.service.post('/api/projects', { name: 'Shop' })
    const page = await app.open('/tasks')
    await page.getByRole('link', { name: 'Settings for Shop' }).click()
    await sectionOf(page).getByRole('button', { name: 'Connect repository' }).click()
    const form = sectionOf(page)
    await form.getByLabel('Repository').fill('acme/nowhere')
    await form.getByRole('button', { name: 'Connect repository' }).click()
    const refusal = form.getByRole('alert')
    await refusal.waitFor()
    const words = await refusal.innerText()
    await expect.poll(() => form.getByText(words).count()).toBe(1)
    await form.getByLabel('Repository').fill('acme/shop')
    await form.getByRole('combobox', { name: 'Sync' }).click()
    await page.getByRole('option', { name: 'Manually' }).click()
    await form.getByRole('button', { name: 'Connect repository' }).click()
    await page.getByRole('button', { name: "I've stored it" }).click()
    await form.getByText('No syncs from acme/shop yet').waitFor()

    // Slow enough to be seen; as soon as it was, the rest comes at once.
    host.latencyMs = 1_500
    await start(page)
    await sectionOf(page)
      .getByText(/Syncing: [1-9]\d* of 800 fetched/)
      .waitFor()
    await sectionOf(page).getByRole('progressbar').waitFor()
    host.latencyMs = 0
    const first = runsOf(page).first()
    await first.getByText('+800 (1 done)').waitFor()
    await sectionOf(page).getByRole('progressbar').waitFor({ state: 'detached' })

    repository.close(1)
    repository.issue({ title: 'Fresh from the code host' })
    await start(page)
    await runsOf(page).nth(1).waitFor()
    await first.getByText('+1, 1 done').waitFor()
    await page.getByRole('link', { name: 'View 799 open tasks' }).waitFor()

    // A host that doesn't tell: about as many as the last time that everything was fetched.
    host.hideLastPage()
    host.fault({ status: 422 }, { times: 2, matches: ({ url }) => url.startsWith('/search/') })
    await sectionOf(page).getByRole('button', { name: 'Full sync' }).click()
    await first.getByText('full sync').waitFor()
    host.latencyMs = 1_500
    await sectionOf(page).getByRole('button', { name: 'Full sync' }).click()
    await sectionOf(page)
      .getByText(/[1-9]\d* of about 801 fetched/)
      .waitFor()
    const bar = sectionOf(page).getByRole('progressbar')
    await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0)
    host.latencyMs = 0
    await runsOf(page).nth(3).waitFor()
  })

  test('creates tasks with a link to their source and its state', async ({ app }) => {
    const { project, repository, sync } = await app.service.connected()
    repository.issue({ title: 'An issue', body: 'From **there**, with #2 of @bob' })
    repository.pull({ title: 'A change' })
    repository.merge(2)
    await sync()
    const page = await app.open(`/tasks?status=all&projectId=${project.id}`)
    await page.getByRole('link', { name: 'A change' }).click()
    const panel = panelOf(page)
    await panel.getByText(`Pull request #2 in ${repository.name}, merged`).waitFor()
    const link = panel.getByRole('link', { name: 'View on code host' })
    await expect.poll(() => link.getAttribute('href')).toContain(`${repository.name}/pull/2`)
    await page.getByRole('link', { name: 'An issue' }).click()
    await panel.getByText(`Issue #1 in ${repository.name}, open, opened by ada`).waitFor()
    for (const [name, path] of Object.entries({ '#2': `${repository.name}/issues/2`, '@bob': 'bob' })) {
      const reference = panel.getByRole('link', { name, exact: true })
      await expect.poll(() => reference.getAttribute('href')).toBe(`https://codehost.example/${path}`)
    }
    await panel.getByText(/Read-only because it is synced from the code host. Edit it there/).waitFor()
    await expect.poll(() => panel.getByRole('button', { name: 'Write description' }).count()).toBe(0)

    const { body: tasks } = await app.service.get(`/api/tasks?projectId=${project.id}&q=An issue`)
    await app.service.delete(`/api/tasks/${tasks.data[0].id}`)
    repository.change(1, { title: 'Changed there' })
    await sync()
    await page.goto(`${app.service.url}/projects/${project.id}`)
    await runsOf(page).first().getByText('1 skipped').click()
    await runsOf(page).first().getByText('#1: deleted in Inlet').waitFor()
  })

  test('lists tasks by when they were opened there', async ({ app }) => {
    const { project, repository, sync } = await app.service.connected()
    const { body: lists } = await app.service.get(`/api/projects/${project.id}/lists`)
    await app.service.post('/api/tasks', { title: 'Added before', listId: lists.data[0].id })
    repository.issue({ title: 'Opened in 2019', createdAt: Date.parse('2019-05-02T12:00:00Z') })
    repository.issue({ title: 'Opened in 2008', createdAt: Date.parse('2008-02-29T12:00:00Z') })
    await sync()
    const page = await app.open(`/tasks?projectId=${project.id}`, { timezoneId: 'UTC' })
    await rowOf(page, 'Opened in 2019').getByText('2 May 2019').waitFor()
    const titles = () => page.locator('[data-task]').getByRole('link').allInnerTexts()
    await expect.poll(titles).toEqual(['Added before', 'Opened in 2019', 'Opened in 2008'])
    await page.goto(`${app.service.url}/tasks?projectId=${project.id}&sort=openedAt`)
    await expect.poll(titles).toEqual(['Opened in 2008', 'Opened in 2019', 'Added before'])
  })

  test('leaves tasks that can be edited after a disconnect', async ({ app }) => {
    const { project, repository, sync } = await app.service.connected()
    repository.issue({ title: 'Theirs' })
    await sync()
    const page = await app.open(`/tasks?projectId=${project.id}`)
    const panel = panelOf(page)
    await rowOf(page, 'Theirs').getByRole('link').click()
    await panel.getByText(/^Issue #1/).waitFor()
    await expectNone(page, panel.getByRole('button', { name: 'Theirs' }))
    await app.service.delete(`/api/projects/${project.id}/codehost`)
    await page.reload()
    await panel.getByRole('button', { name: 'Theirs' }).click()
    await panel.getByLabel('Title').fill('Ours now')
    await page.keyboard.press('Enter')
    await rowOf(page, 'Ours now').waitFor()
  })

  test('shows the colors of labels in rows and on the task', async ({ app }) => {
    const { project, repository, sync } = await app.service.connected()
    repository.issue({ title: 'Colorful', labels: [{ name: 'bug', color: 'd73a4a' }, 'plain'] })
    await sync()
    const page = await app.open(`/tasks?projectId=${project.id}`)
    const row = page.getByRole('listitem').filter({ hasText: 'Colorful' })
    const dot = 'i[style*="rgb(215, 58, 74)"]'
    await row.getByText('bug').locator(dot).waitFor()
    await row.getByRole('link', { name: 'Colorful' }).click()
    const panel = panelOf(page)
    const label = (name: string) => panel.getByText(name, { exact: true }).locator('..')
    await label('bug').locator(dot).waitFor()
    // What the host sends as a text has its default color.
    await label('plain').locator('i[style*="rgb(237, 237, 237)"]').waitFor()
  })

  test('shows each state of issues and pull requests', async ({ app }) => {
    const { project, repository, sync } = await app.service.connected()
    const titles = ['Still open', 'Closed', 'Not planned', 'Twice', 'Vanished']
    for (const title of titles) repository.issue({ title })
    repository.close(2)
    repository.close(3, 'not_planned')
    repository.close(4, 'duplicate')
    for (const title of ['Under review', 'Merged', 'Given up']) repository.pull({ title })
    repository.merge(7)
    repository.close(8)
    repository.pull({ title: 'Half done', isDraft: true })
    await sync()
    repository.remove(5)
    await sync('?mode=full')
    const page = await app.open(`/tasks?status=all&projectId=${project.id}`, { reducedMotion: 'reduce' })
    const states = {
      'Still open': 'Issue, open',
      Closed: 'Issue, closed',
      'Not planned': 'Issue, not planned',
      Twice: 'Issue, closed as a duplicate',
      Vanished: 'Issue, deleted at the code host',
      'Under review': 'Pull request, open',
      Merged: 'Pull request, merged',
      'Given up': 'Pull request, closed without merging',
      'Half done': 'Pull request, draft',
    }
    for (const [title, words] of Object.entries(states)) {
      await rowOf(page, title).getByRole('img', { name: words, exact: true }).waitFor()
    }
    await rowOf(page, 'Merged').getByText('#7', { exact: true }).waitFor()
    await rowOf(page, 'Half done').getByText('Draft', { exact: true }).waitFor()
    expect(await violationsOn(page)).toEqual([])
  })

  test('that fails shows the reason and a button to fix it', async ({ app }) => {
    const { project, repository } = await app.service.connected({ token: 'fresh' }, 3)
    app.service.host.tokens.delete('fresh')
    const page = await app.open(`/projects/${project.id}`, { reducedMotion: 'reduce' })
    await start(page)
    await runsOf(page).getByText(/token/i).first().waitFor()
    app.service.host.tokens.set('renewed', {})
    await runsOf(page).getByRole('button', { name: 'Renew token' }).click()
    await sectionOf(page).getByLabel('Access token').fill('renewed')
    await sectionOf(page).getByRole('button', { name: 'Save connection' }).click()
    await start(page)
    await runsOf(page).getByText('+3').waitFor()
    await sectionOf(page).getByRole('img', { name: 'The last 2 syncs: 3 changes, 1 failed' }).waitFor()
    expect(repository.items.size).toBe(3)
    expect(await violationsOn(page)).toEqual([])

    app.service.host.fault({ status: 502, body: 'Bad gateway' }, { times: 3 })
    await start(page)
    await runsOf(page)
      .getByText(/did not respond as expected 3 times/)
      .waitFor()
    await runsOf(page).getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => runsOf(page).count(), { timeout: 60_000 }).toBe(4)
  })

  test('that waits for a rate limit counts down to the time when it continues', async ({ app }) => {
    const { project } = await app.service.connected({}, 3)
    const reset = Math.floor(Date.now() / 1_000) + 3_000
    app.service.host.fault({
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
      body: JSON.stringify({ message: 'API rate limit exceeded' }),
    })
    const page = await app.open(`/projects/${project.id}`, { reducedMotion: 'reduce' })
    await start(page)
    const status = sectionOf(page).getByRole('status')
    await status.getByText(/Rate limited by the code host\. Continues.*in \d+ min/).waitFor()
    const until = await page.evaluate(
      (ms) => new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(ms),
      (reset + 1) * 1_000,
    )
    await expect.poll(() => status.innerText()).toContain(until)
    expect(await violationsOn(page)).toEqual([])

    const secondsLeft = async () => {
      const [, minutes = 0, seconds = 0] =
        /in (?:(\d+) min)? ?(?:(\d+) s)?/.exec(await status.innerText()) ?? []
      return 60 * Number(minutes) + Number(seconds)
    }
    const before = await secondsLeft()
    await expect.poll(secondsLeft).toBeLessThanOrEqual(before - 2)

    // The time has come, and no worker has continued the run yet.
    await page.route(/\/syncs/, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replaceAll(
        /"retryAt":"[^"]+"/g,
        '"retryAt":"2026-01-01T00:00:00.000Z"',
      )
      await route.fulfill({ response, body })
    })
    await page.reload()
    await status.getByText('Continues soon').waitFor()
    await expect.poll(() => status.innerText()).not.toContain(' at ')
    // A request may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
