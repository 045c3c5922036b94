import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { panelOf, rowOf, test } from './support/browser.ts'

/** Sends JSON as another system would, and returns its task. */
async function sendWithCurl(url: string, { secret, body }: { secret: string; body: object }) {
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sS', '--fail-with-body', url],
    ...['-H', `Authorization: Bearer ${secret}`],
    ...['-H', 'Content-Type: application/json'],
    ...['-d', JSON.stringify(body)],
  ])
  return JSON.parse(stdout).taskId as string
}

test('a payload becomes a source, its deliveries tasks, three of them one, which two words find', async ({
  app,
}) => {
  const page = await app.open('/settings/sources')
  await page.getByRole('button', { name: 'Add a source' }).first().click()
  await page.getByLabel('Name').fill('Contact form')
  await page
    .getByRole('textbox', { name: 'Payload' })
    .fill('{"subject": "Export fails", "text": "After the update.", "id": 1}')
  for (const [name, field] of Object.entries({ subject: 'Title', text: 'Description', id: 'External ID' })) {
    await page.getByRole('tree').getByText(name, { exact: true }).click()
    await page.getByRole('menuitem', { name: field }).click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
  await page.getByRole('region', { name: 'Preview' }).getByRole('article', { name: 'Export fails' }).waitFor()
  await page.getByRole('button', { name: 'Create source' }).click()
  const dialog = page.getByRole('dialog', { name: 'Secret of “Contact form”' })
  await dialog.locator('pre').first().waitFor()
  const [url = '', secret = ''] = await dialog.locator('pre').allInnerTexts()
  await dialog.getByRole('button', { name: "I've stored it" }).click()

  const ids: string[] = []
  for (const [subject, text] of [
    ['Export fails', 'On Monday, with a large file.'],
    ['The export fails', 'Nothing happens on Tuesday.'],
    ['Export does nothing', 'It fails silently since Wednesday.'],
    ['Sign-in is slow', 'Behind a proxy.'],
  ])
    ids.push(await sendWithCurl(url, { secret, body: { subject, text, id: ids.length + 1 } }))

  await page.getByRole('link', { name: /All tasks/ }).click()
  const rowWith = (id: string | undefined) => page.locator(`[data-task="${id}"]`)
  for (const id of ids.slice(0, 3)) await rowWith(id).getByRole('checkbox').check()
  await rowWith(ids[2]).getByRole('link').focus()
  await page.keyboard.press('d')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.getByRole('combobox', { name: 'Merge into' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Merged 2 tasks into').waitFor()
  await rowWith(ids[0]).getByTitle('3 reports').waitFor()

  await page.keyboard.press('Escape')
  await rowWith(ids[0]).getByRole('link').click()
  const reports = panelOf(page).getByRole('region', { name: 'Reports' })
  await reports.getByText('Nothing happens on Tuesday.').waitFor()
  await reports.getByRole('button', { name: 'Unmerge Export does nothing' }).click()
  await reports.getByRole('heading', { name: '2 reports' }).waitFor()
  await expect
    .poll(async () => (await app.service.get(`/api/tasks/${ids[2]}`)).body)
    .toMatchObject({ status: 'open', mergedInto: null })

  await page.getByRole('button', { name: 'Close task' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('silently wednesday')
  await rowWith(ids[0]).waitFor({ state: 'detached' })
  await rowOf(page, 'Export does nothing').waitFor()
  await expect.poll(() => page.locator('[data-task]').count()).toBe(1)
})
