import { expect } from 'vitest'
import { rowOf, test } from './support/browser.ts'

test('the dialog for a new project keeps its name over Back, and is opened by its link', async ({ app }) => {
  const page = await app.open('/tasks')
  await page.getByRole('button', { name: 'New project' }).click()
  const dialog = page.getByRole('dialog', { name: 'New project' })
  await dialog.getByLabel('Name').fill('Half a na')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${app.service.url}/trash?new=project`)
  await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('Half a na')
  await dialog.getByLabel('Name').fill('Half a name')
  await dialog.getByRole('button', { name: 'Create project' }).click()
  await page.waitForURL(/\/projects\/[^?]+$/)
  await page.goBack()
  await page.waitForURL(/\/trash$/)
})

test('the help is an entry of the history, and a key that follows Escape is for the list', async ({
  app,
}) => {
  const { body: task } = await app.service.post('/api/tasks', { title: 'Below the help' })
  const page = await app.open('/tasks')
  await rowOf(page, 'Below the help').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.waitFor()
  await page.goBack()
  await help.waitFor({ state: 'detached' })
  await page.goForward()
  await help.waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('e')
  await expect.poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.status).toBe('done')
  await expect.poll(() => new URL(page.url()).search).toBe('')
})

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
