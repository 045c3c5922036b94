import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import { expectNone, panelOf, rowOf, testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startSyncing())

describe('comments of the code host', () => {
  test('are turned on with the connection, and show who wrote them', async ({ app }) => {
    const repository = app.service.host.repository('acme/shop')
    repository.issue({ title: 'Cart loses items' })
    repository.comment(1, { body: 'Happens with **two** tabs', author: 'bob' })
    const { id } = repository.comment(1, { body: 'Same here', author: null })
    repository.edit(id, { body: 'Same here, since yesterday' }, 60)
    const { body: project } = await app.service.post('/api/projects', { name: 'Shop' })

    const page = await app.open(`/projects/${project.id}`)
    const section = page.getByRole('region', { name: 'Code host' })
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await section.getByLabel('Repository').fill('acme/shop')
    await section.getByLabel('Sync comments').check()
    expect(await violationsOn(page)).toEqual([])
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await page.getByRole('button', { name: "I've stored it" }).click()
    await section.getByText(/synced hourly, next in \d+ min with comments/).waitFor()
    await section.getByRole('button', { name: 'Sync issues & PRs' }).click()
    await section.getByText('+1', { exact: true }).first().waitFor()

    const tasks = await app.open(`/tasks?projectId=${project.id}`)
    await rowOf(tasks, 'Cart loses items').getByLabel('2 comments').waitFor()
    await rowOf(tasks, 'Cart loses items').click()
    const panel = panelOf(tasks)
    const first = panel.getByRole('listitem').filter({ hasText: 'Happens with' })
    await first.locator('strong', { hasText: 'two' }).waitFor()
    const author = first.getByRole('link', { name: 'bob' })
    await expect.poll(() => author.getAttribute('href')).toBe('https://codehost.example/bob')
    const second = panel.getByRole('listitem').filter({ hasText: 'since yesterday' })
    await second.getByText('ghost').waitFor()
    await second.getByText('edited').waitFor()
    expect(await violationsOn(tasks)).toEqual([])
    await expectNone(tasks, panel.getByRole('button', { name: 'Comment actions' }))

    await section.getByRole('button', { name: 'Edit connection' }).click()
    await expect.poll(() => section.getByLabel('Sync comments').isChecked()).toBe(true)
    await app.service.delete(`/api/projects/${project.id}/codehost`)
    await tasks.reload()
    await panelOf(tasks).getByRole('button', { name: 'Comment actions' }).first().waitFor()
  })
})
