import { Buffer } from 'node:buffer'
import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import type { Page } from '../tools/playwright.ts'
import { testWith, violationsOn } from './support/browser.ts'

const test = testWith(() => startSyncing({ tokens: { own: {} } }))

const sectionOf = (page: Page) => page.getByRole('region', { name: 'Code host' })

describe('a repository that is read with a GitHub App', () => {
  test('is connected with its IDs and its key file, and later without the key', async ({ app }) => {
    const { host } = app.service
    host.repository('acme/secret', { isPrivate: true }).fill(3)
    const githubApp = host.app()
    const project = await app.service.given.project()
    const page = await app.open(`/projects/${project.id}`, {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    })
    const section = sectionOf(page)
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await section.getByLabel('Repository').fill('acme/secret')
    await section.getByText('GitHub App', { exact: true }).click()
    await section.getByLabel('App ID').fill(String(githubApp.appId))
    await section.getByLabel('Installation ID').fill(String(githubApp.installationId))
    await section.getByLabel('Private key').fill('not a key')
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await section.getByRole('alert').filter({ hasText: 'BEGIN RSA PRIVATE KEY' }).waitFor()
    expect(await violationsOn(page)).toEqual([])

    const chooser = page.waitForEvent('filechooser')
    await section.getByRole('button', { name: 'Choose .pem file' }).click()
    const buffer = Buffer.from(githubApp.privateKey)
    await (await chooser).setFiles({
      name: 'app.private-key.pem',
      mimeType: 'application/x-pem-file',
      buffer,
    })
    await expect.poll(() => section.getByLabel('Private key').inputValue()).toBe(githubApp.privateKey)
    await section.getByRole('button', { name: 'Connect repository' }).click()
    await page.getByRole('button', { name: "I've stored it" }).click()
    await section.getByText(`with GitHub App ${githubApp.appId}`).waitFor()

    await section.getByRole('button', { name: 'Edit connection' }).click()
    await expect
      .poll(() => section.getByLabel('Installation ID').inputValue())
      .toBe(String(githubApp.installationId))
    await expect.poll(() => section.getByLabel('Private key').inputValue()).toBe('')
    await section.getByRole('button', { name: 'Save connection' }).click()
    await section.getByText(`with GitHub App ${githubApp.appId}`).waitFor()

    githubApp.installation.state = 'suspended'
    await section.getByRole('button', { name: 'Sync issues & PRs' }).click()
    await section.getByText(/Unsuspend it at the code host/).waitFor()
    await section.getByRole('button', { name: 'Check GitHub App' }).click()
    await section.getByText('Token', { exact: true }).click()
    await section.getByLabel('Access token').fill('own')
    await section.getByRole('button', { name: 'Save connection' }).click()
    await section.getByText('with a token').waitFor()
    const { body } = await app.service.get(`/api/projects/${project.id}/codehost`)
    expect(body).toMatchObject({ hasToken: true, app: null })
  })
})
