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

test('a list is deleted at an address, which Back closes', async ({ app }) => {
  const { body: project } = await app.service.post('/api/projects', { name: 'Mobile' })
  const { body: list } = await app.service.post(`/api/projects/${project.id}/lists`, { name: 'Later' })
  const path = `/projects/${project.id}`
  const page = await app.open(path)
  const dialog = page.getByRole('dialog', { name: 'Delete “Later”?' })
  await page.getByRole('button', { name: 'Actions for Later' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.waitFor()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${app.service.url}${path}?delete=${list.id}`)
  await dialog.getByRole('button', { name: 'Delete list' }).click()
  await dialog.waitFor({ state: 'detached' })
  const names = async () =>
    (await app.service.get(`/api/projects/${project.id}/lists`)).body.data.map((one: Named) => one.name)
  await expect.poll(names).toEqual(['Inbox'])
  await expect.poll(() => new URL(page.url()).search).toBe('')
  // Nothing deletes the default list.
  const [inbox] = (await app.service.get(`/api/projects/${project.id}/lists`)).body.data
  await page.goto(`${app.service.url}${path}?delete=${inbox.id}`)
  await page.getByText('Default', { exact: true }).waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})

interface Named {
  name: string
}

test('the name of a project and of a new list survive Back, until they are saved', async ({ app }) => {
  const { body: project } = await app.service.post('/api/projects', { name: 'Mobile' })
  const page = await app.open('/trash')
  await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Settings for Mobile' }).click()
  const name = page.getByRole('main').getByRole('textbox', { name: 'Name', exact: true })
  const listName = page.getByRole('textbox', { name: 'New list name' })
  await name.fill('Mobile a')
  await listName.fill('Next re')
  await page.goBack()
  await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
  await page.goForward()
  await expect.poll(() => name.inputValue()).toBe('Mobile a')
  await expect.poll(() => listName.inputValue()).toBe('Next re')

  // What somebody else changes stays until it is overwritten, which is said.
  await app.service.patch(`/api/projects/${project.id}`, { name: 'Theirs' })
  await page.reload()
  await page.getByText('Someone else changed the same fields.').waitFor()
  await name.fill('Mobile app')
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await page.getByRole('heading', { name: 'Mobile app', level: 1 }).waitFor()
  await listName.fill('Next release')
  await page.getByRole('button', { name: 'Add list' }).click()
  await expect.poll(() => listName.inputValue()).toBe('')
  await page.reload()
  await expect.poll(() => name.inputValue()).toBe('Mobile app')
  await expect.poll(() => listName.inputValue()).toBe('')
  await name.fill('Dropped')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => name.inputValue()).toBe('Mobile app')
})
