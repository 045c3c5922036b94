import { readFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { collectErrors, createTask, test, violationsOn } from './support/browser.ts'

const CSV = [
  'Summary,Details,Priority,Key,Other',
  '"One, ""two""","a\nb",high,x-1,left out',
  ',no title,low,x-2,',
  "'=1+1,,urgent,x-3,",
  '=2+2,,,x-4,',
].join('\r\n')

describe('the page Import and export', () => {
  test('imports a CSV file: maps columns, shows the rows with errors, and creates the others once', async ({
    app,
  }) => {
    const page = await app.open('/settings/data')
    const errors = collectErrors(page)
    const chooseFile = () =>
      page
        .getByLabel('Choose a CSV file')
        .setInputFiles({ name: 'tasks.csv', mimeType: 'text/csv', buffer: Buffer.from(`\uFEFF${CSV}`) })
    await chooseFile()
    await page.getByText('tasks.csv: 4 rows').waitFor()
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Import Summary as' }).inputValue())
      .toBe('Title')
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Import Key as' }).inputValue())
      .toBe('External ID')
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Import Other as' }).inputValue())
      .toBe('Not imported')
    await page.getByText('Row 3: Title is required.').waitFor()
    await page.getByText('Row 4: Priority must be low, medium or high, not “urgent”.').waitFor()
    expect(await violationsOn(page)).toEqual([])

    // Without the column of priorities, only one row has an error.
    await page.getByRole('combobox', { name: 'Import Priority as' }).click()
    await page.getByRole('option', { name: 'Not imported' }).click()
    await page.getByText('1 row with errors will be skipped:').waitFor()
    await page.getByRole('combobox', { name: 'Import into' }).click()
    await page.getByRole('option', { name: 'Inbox / Inbox' }).click()
    await page.getByRole('button', { name: 'Import 3 tasks' }).click()
    await page.getByText('Imported: 3 of 3 rows. 3 tasks created.').waitFor()
    expect(await violationsOn(page)).toEqual([])

    const { body } = await app.service.get('/api/tasks?sort=createdAt')
    expect(body.data.map(({ title, externalId }: Record<string, string>) => [title, externalId])).toEqual([
      ['One, "two"', 'x-1'],
      ['=1+1', 'x-3'],
      ['=2+2', 'x-4'],
    ])
    expect(body.data[0]).toMatchObject({ description: 'a\nb', source: 'dashboard' })

    await page.getByRole('button', { name: 'Import another file' }).click()
    await chooseFile()
    await page.getByRole('combobox', { name: 'Import into' }).click()
    await page.getByRole('option', { name: 'Inbox / Inbox' }).click()
    await page.getByRole('button', { name: 'Import 2 tasks' }).click()
    await page.getByText('0 tasks created, 2 already there.').waitFor()
    expect((await app.service.get('/api/tasks')).body.data).toHaveLength(3)
    expect(errors).toEqual([])
  })

  test('keeps what the columns become over Back and a reload, which forgets the file', async ({ app }) => {
    const page = await app.open('/settings/data')
    const chooseFile = () =>
      page
        .getByLabel('Choose a CSV file')
        .setInputFiles({ name: 'kept.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
    const key = page.getByRole('combobox', { name: 'Import Key as' })
    await chooseFile()
    await key.click()
    await page.getByRole('option', { name: 'Not imported' }).click()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/data?import=columns`)
    await page.goBack()
    await page.getByText('Choose a CSV file').waitFor()
    await page.goForward()
    await expect.poll(() => key.inputValue()).toBe('Not imported')
    await page.reload()
    await page.getByText('Choose it again').waitFor()
    await chooseFile()
    await expect.poll(() => key.inputValue()).toBe('Not imported')
    await page.getByRole('button', { name: 'Choose another file' }).click()
    await page.getByText('Choose a CSV file').waitFor()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/data`)
  })

  test('exports all data to a file', async ({ app }) => {
    await createTask(app, { title: 'Exported' })
    const page = await app.open('/settings/data')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export', exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^inlet-\d{4}-\d\d-\d\d\.ndjson$/)
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain('"title":"Exported"')
    expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ kind: 'end' })
  })

  test('has only what the key may do', async ({ app }) => {
    const key = await app.service.given.key({ scopes: ['tasks:read', 'tasks:write'] })
    const page = await app.open('/settings/data', { key })
    await page.getByText('Choose a CSV file').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Export', exact: true }).count()).toBe(0)
  })
})

describe('the list of tasks', () => {
  test('downloads what its filters show as CSV', async ({ app }) => {
    await createTask(app, { title: 'Shown', labels: ['bug'] })
    await createTask(app, { title: 'Hidden' })
    const page = await app.open('/tasks?label=bug')
    await page.getByRole('link', { name: 'Shown' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('tasks.csv')
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain('Shown')
    expect(text).not.toContain('Hidden')
  })
})
