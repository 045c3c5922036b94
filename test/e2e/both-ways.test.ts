import { describe, expect, vi } from 'vitest'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import { startSyncing } from '../support/syncing.ts'
import { rowOf, testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startSyncing({ tokens: { 'ghp-writer': { login: 'inlet-bot' } } }))

describe('a repository that is synced both ways', () => {
  test('reports an issue, and gets a comment and the end of its task; reopening it there reopens the task', async ({
    app,
  }) => {
    const { host } = app.service
    const repository = host.repository('acme/shop')
    const { body: project } = await app.service.post('/api/projects', { name: 'Shop' })
    const page = await app.open(`/projects/${project.id}`)
    const section = page.getByRole('region', { name: 'Code host' })
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await section.getByLabel('Repository').fill('acme/shop')
    await section.locator('input[type=password]').fill('ghp-writer')
    await section.getByLabel('Sync comments').check()
    await section.getByLabel('Write back').first().click()
    await page.getByRole('option', { name: /post public comments/ }).click()
    expect(await violationsOn(page)).toEqual([])
    await section.getByRole('button', { name: 'Connect repository' }).click()
    const dialog = page.getByRole('dialog', { name: 'Webhook secret' })
    await dialog.waitFor()
    const [url = '', secret = ''] = await dialog.locator('pre').allInnerTexts()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await section.getByText('Public comments are posted to the repository.').waitFor()

    const report = (action: string) => {
      const item = repository.items.get(1) ?? repository.issue({ title: 'Crash when saving' })
      return itemDelivery(item, { api: host.url, repository: repository.about, action })
    }
    const tasks = await app.open(`/tasks?projectId=${project.id}`, { isLive: true })
    expect((await deliver({ url, secret }, report('opened'))).status).toBe(202)
    const row = rowOf(tasks, 'Crash when saving')
    await row.waitFor()
    await row.getByText('Crash when saving').click()
    const panel = tasks.getByRole('complementary', { name: 'Task' })

    await panel.getByLabel('Comment', { exact: true }).fill('Fixed in **2.3.1**')
    await panel.getByLabel('Post to acme/shop').check()
    expect(await violationsOn(tasks)).toEqual([])
    await panel.getByRole('button', { name: 'Comment', exact: true }).click()
    await vi.waitFor(() => expect(repository.comments.size).toBe(1), { timeout: 20_000 })
    const [comment] = repository.comments.values()
    expect(comment).toMatchObject({
      number: 1,
      body: expect.stringMatching(/wrote in Inlet:\n\nFixed in \*\*2/),
    })

    await panel.getByRole('button', { name: 'Mark done' }).click()
    await vi.waitFor(() => expect(repository.items.get(1)?.state).toBe('closed'), { timeout: 20_000 })
    await panel.getByRole('button', { name: 'Reopen' }).waitFor()

    repository.reopen(1)
    expect((await deliver({ url, secret }, report('reopened'))).status).toBe(202)
    await panel.getByRole('button', { name: 'Mark done' }).waitFor()
    await panel.getByText('reopened the task').waitFor()
  })

  test('says when it is tried again while the last request may still arrive', async ({ app }) => {
    const { host } = app.service
    host.tokens.set('ghp-lost', {})
    const { project, repository, sync } = await app.service.connected({
      token: 'ghp-lost',
      writeBack: 'state',
    })
    repository.issue({ title: 'Lost response' })
    await sync()
    host.fault('lost', { matches: ({ method }) => method === 'PATCH' })
    const page = await app.open(`/tasks?projectId=${project.id}`, { isLive: true })
    await rowOf(page, 'Lost response').getByText('Lost response').click()
    const panel = page.getByRole('complementary', { name: 'Task' })
    await panel.getByRole('button', { name: 'Mark done' }).click()
    const waiting = panel.getByText(/The code host isn’t updated yet.* Inlet tries again at .*\d+:\d+:\d+/)
    await waiting.waitFor()
    expect(await violationsOn(page)).toEqual([])
    const retry = panel.getByRole('button', { name: 'Retry now' })
    const retried = page.waitForResponse(/write-back\/retry$/)
    await retry.click()
    expect((await (await retried).json()).writeBack).toMatchObject({ nextAttemptAt: expect.any(String) })
    await waiting.waitFor()
    // As after 45 seconds.
    await app.service.query('update codehost_writes set arrives_until = null')
    await retry.click()
    // While it is tried, too, the panel no longer says that it waits.
    await waiting.waitFor({ state: 'detached' })
    const writeBack = async () =>
      (await app.service.get(`/api/tasks?projectId=${project.id}`)).body.data[0].writeBack
    await expect.poll(writeBack).toEqual({ state: 'done', error: null })
    await panel.getByText('Updating the code host').waitFor({ state: 'detached' })
  })

  test('says why a task could not be written there, and retries it', async ({ app }) => {
    const { host } = app.service
    const { project, repository, sync } = await app.service.connected({
      token: 'ghp-writer',
      writeBack: 'state',
    })
    repository.issue({ title: 'Locked out' })
    await sync()
    host.tokens.set('ghp-writer', { canWriteIssues: false })
    const page = await app.open(`/tasks?projectId=${project.id}`, { isLive: true })
    await rowOf(page, 'Locked out').getByText('Locked out').click()
    const panel = page.getByRole('complementary', { name: 'Task' })
    await panel.getByRole('button', { name: 'Mark done' }).click()
    const alert = panel.getByRole('alert')
    await alert.getByText('Couldn’t update the code host.').waitFor()
    await alert.getByText(/The token cannot write here/).waitFor()
    expect(await violationsOn(page)).toEqual([])
    host.tokens.set('ghp-writer', {})
    await alert.getByRole('button', { name: 'Retry' }).click()
    await alert.waitFor({ state: 'detached' })
    await vi.waitFor(() => expect(repository.items.get(1)?.state).toBe('closed'))
  })
})
