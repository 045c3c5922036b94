import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import { expectNone, testWith, violationsOn } from './support/browser.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startSyncing({ tokens: { fresh: {}, old: {} } })))

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
    await rowOf(other.repository).getByText('failing').waitFor({ timeout: 15_000 })
    await rowOf(other.repository)
      .getByText(/^Sync: .*token/)
      .waitFor()
    await expectNone(page, rowOf(repository).getByText('failing'))
    expect(await violationsOn(page)).toEqual([])
    await rowOf(other.repository).getByRole('link', { name: 'Renew token' }).click()
    await page.waitForURL(`${service.url}/projects/${other.project.id}?edit=connection`)
    await page.getByRole('button', { name: 'Save connection' }).waitFor()
  })
})
