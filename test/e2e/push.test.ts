import { describe, expect } from 'vitest'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import { startSyncing } from '../support/syncing.ts'
import { rowOf, testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startSyncing())

describe('the webhook of a repository', () => {
  test('is set up from the dashboard, and shows a change of the code host without a sync', async ({
    app,
  }) => {
    const { host } = app.service
    const repository = host.repository('acme/shop')
    const { body: project } = await app.service.post('/api/projects', { name: 'Shop' })
    const page = await app.open(`/projects/${project.id}`)
    const section = page.getByRole('region', { name: 'Code host' })
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await section.getByLabel('Repository').fill('acme/shop')
    await section.getByRole('button', { name: 'Connect repository' }).click()
    const dialog = page.getByRole('dialog', { name: 'Webhook secret' })
    await dialog.waitFor()
    const [url = '', secret = ''] = await dialog.locator('pre').allInnerTexts()
    expect(await violationsOn(page)).toEqual([])
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await section.getByText('No delivery received yet').waitFor()

    const item = repository.issue({ title: 'Pushed at once' })
    const { about } = repository
    const opened = itemDelivery(item, { api: host.url, repository: about, action: 'opened' })
    const tasks = await app.open(`/tasks?projectId=${project.id}`, { isLive: true })
    expect((await deliver({ url, secret }, opened)).status).toBe(202)
    await rowOf(tasks, 'Pushed at once').waitFor()

    await section.getByText('Last delivery').waitFor()
    await section.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByText('The previous secret works for one more day').waitFor()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    expect((await deliver({ url, secret }, { event: 'push', payload: {} })).status).toBe(202)
    await section.getByRole('link', { name: 'View deliveries' }).click()

    const delivery = page.getByRole('listitem').filter({ hasText: 'Issue #1 opened' })
    await delivery.getByText('Accepted').waitFor()
    await page.getByText('This event is not used.').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await delivery.getByRole('button', { name: 'Issue #1 opened' }).click()
    await delivery.getByText('"title": "Pushed at once"').waitFor()
    await delivery.getByRole('button', { name: 'Replay' }).click()
    await delivery.getByText('Nothing changed').waitFor()
  })
})
