import { expect } from 'vitest'
import { test } from './support/browser.ts'

test('a connection is edited at an address, which Back leaves with what was typed', async ({ app }) => {
  const { body: project } = await app.service.post('/api/projects', { name: 'Mobile' })
  const page = await app.open(`/projects/${project.id}`)
  await page.getByRole('button', { name: 'Connect repository' }).click()
  await page.getByLabel('Repository').fill('acme/mobile')
  await page.goBack()
  await page.getByRole('button', { name: 'Connect repository' }).waitFor()
  await page.goForward()
  await expect.poll(() => page.getByLabel('Repository').inputValue()).toBe('acme/mobile')
})

test('a list is renamed at an address; one of a list that is gone opens the page alone', async ({ app }) => {
  const { body: project } = await app.service.post('/api/projects', { name: 'Mobile' })
  const { body: list } = await app.service.post(`/api/projects/${project.id}/lists`, { name: 'Later' })
  const path = `/projects/${project.id}?rename=`
  const page = await app.open(path + list.id)
  await expect
    .poll(() => page.getByRole('dialog', { name: 'Rename list' }).getByLabel('Name').inputValue())
    .toBe('Later')
  await page.goto(app.service.url + path + crypto.randomUUID())
  await page.getByText('Later').waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})
