import { describe, expect } from 'vitest'
import { expectNone, test } from './support/browser.ts'

describe('AI instructions', () => {
  test('are created, disabled and reverted', async ({ app }) => {
    const page = await app.open('/settings/instructions')
    await page.getByRole('button', { name: 'Add instruction' }).click()
    await page.getByRole('textbox', { name: 'Instruction' }).fill('Answer in verse.')
    await page.getByRole('dialog').getByRole('button', { name: 'Add instruction' }).click()
    const preview = page.getByRole('region', { name: 'Assistant preview' })
    await preview.getByText('Answer in verse.').waitFor()
    await page.getByRole('switch', { name: /Answer in verse/ }).click({ force: true })
    await expect
      .poll(async () => (await preview.locator('pre').first().innerText()).includes('verse'))
      .toBe(false)
    await page.getByRole('button', { name: /Actions for “Answer in verse/ }).click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Revert to this version' }).click()
    await preview.getByText('Answer in verse.').waitFor()
  })
})

test('an instruction can be about files', async ({ app }) => {
  const page = await app.open('/settings/instructions')
  await page.getByRole('button', { name: 'Add instruction' }).click()
  await page.getByRole('textbox', { name: 'Instruction' }).fill('Use strict types.')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Only for files').fill('src/**\n/test/**')
  await dialog.getByRole('button', { name: 'Add instruction' }).click()
  await dialog.getByText('Glob 2 must be relative to the root of the repository').waitFor()
  await dialog.getByLabel('Only for files').fill('src/**\n\n test/**')
  await dialog.getByRole('button', { name: 'Add instruction' }).click()
  await dialog.waitFor({ state: 'detached' })
  const item = page.getByRole('listitem').filter({ hasText: 'Use strict types.' })
  await expect.poll(() => item.locator('code').allInnerTexts()).toEqual(['src/**', 'test/**'])
  await item.getByRole('button', { name: /Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await expect.poll(() => dialog.getByLabel('Only for files').inputValue()).toBe('src/**\ntest/**')
  await dialog.getByLabel('Only for files').fill('')
  await dialog.getByRole('button', { name: 'Save instruction' }).click()
  await page.getByRole('region', { name: 'Assistant preview' }).getByText('Use strict types.').waitFor()
  await item.getByRole('button', { name: /Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'History' }).click()
  await page.getByText('for all files').waitFor()
})

describe('the draft of an instruction', () => {
  test('survives Escape, the end of the session and closing the dialog', async ({ app }) => {
    const key = await app.service.given.key({ name: 'writer' })
    const page = await app.open('/settings/instructions', { key })
    await page.getByRole('button', { name: 'Add instruction' }).click()
    const text = page.getByRole('textbox', { name: 'Instruction' })
    await text.fill('A long thought.')
    await page.context().clearCookies()
    const writing = page.getByRole('dialog', { name: 'Add instruction' })
    // The question may stand over the button already: the stream hears of the end as well.
    await writing.getByRole('button', { name: 'Add instruction' }).dispatchEvent('click')
    const question = page.getByRole('dialog', { name: 'Your session has ended' })
    await question.getByLabel('API key').fill(key)
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Sign in' }).click()
    await question.waitFor({ state: 'detached' })
    await expect.poll(() => text.inputValue()).toBe('A long thought.')
    await page.keyboard.press('Escape')
    await writing.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add instruction' }).click()
    await expect.poll(() => text.inputValue()).toBe('A long thought.')
    await writing.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'Add instruction' }).click()
    await expect.poll(() => text.inputValue()).toBe('')
  })

  test('reports a failed deletion', async ({ app }) => {
    await app.service.post('/api/rules', { content: 'Stays where it is.' })
    const page = await app.open('/settings/instructions')
    await page.route('**/api/rules/*', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    )
    const remove = async () => {
      await page.getByRole('button', { name: /Actions for “Stays/ }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    }
    await remove()
    await page.getByText("Couldn't delete the instruction").waitFor()
    await expectNone(page, page.getByText('Instruction deleted'))
    await page.unroute('**/api/rules/*')
    await remove()
    await page.getByText('Instruction deleted').waitFor()
  })
})

describe('the order and the project of AI instructions', () => {
  test('are changed in place, and the preview equals the response of the API', async ({ app }) => {
    const { post, get } = app.service
    const { body: project } = await post('/api/projects', { name: 'Ruled' })
    await post('/api/rules', { content: 'Said by default.', priority: 1 })
    await post('/api/rules', { content: 'Meant to be first.', priority: 0 })
    await post('/api/rules', { content: 'Only where it belongs.', projectId: project.id })
    const page = await app.open('/settings/instructions')
    const rules = page.getByRole('region', { name: 'Instructions' }).getByRole('listitem')
    const preview = page.getByRole('region', { name: 'Assistant preview' }).locator('pre').first()
    const sent = async (query = '') => (await get(`/api/context?format=markdown${query}`)).body as string
    const withoutTime = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now').trim()
    await rules.filter({ hasText: 'Said by default.' }).waitFor()
    await rules.filter({ hasText: 'Only where it belongs.' }).getByText('Ruled').waitFor()
    await expectNone(page, preview.getByText('Only where it belongs.'))

    const priority = rules.filter({ hasText: 'Meant to be first.' }).getByRole('textbox')
    await priority.fill('9')
    await priority.press('Enter')
    await rules.first().getByText('Meant to be first.').waitFor()
    await expect.poll(async () => withoutTime(await preview.innerText())).toBe(withoutTime(await sent()))

    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Ruled' }).click()
    await rules.filter({ hasText: 'Only where it belongs.' }).getByText('Ruled').waitFor()
    const inProject = withoutTime(await sent(`&projectId=${project.id}`))
    expect(inProject).toContain('Only where it belongs.')
    await expect.poll(async () => withoutTime(await preview.innerText())).toBe(inProject)
  })
})

describe('the history of an instruction', () => {
  test('shows the diff of each version, including old ones', async ({ app }) => {
    const { post, patch } = app.service
    const { body: rule } = await post('/api/rules', { content: 'Answer in plain English.' })
    for (let count = 1; count <= 23; count++) await patch(`/api/rules/${rule.id}`, { priority: count })
    await patch(`/api/rules/${rule.id}`, { content: 'Answer in plain, short English.' })
    const page = await app.open('/settings/instructions')
    await page.getByRole('button', { name: /Actions for “Answer in plain/ }).click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    const history = page.getByRole('dialog', { name: 'History' })
    const versions = history.getByRole('listitem')
    await versions.first().locator('del', { hasText: 'plain' }).waitFor()
    await versions.first().locator('ins', { hasText: 'plain,' }).waitFor()
    await versions.first().locator('ins', { hasText: 'short' }).waitFor()
    await versions.nth(1).getByText('priority 22 → 23').waitFor()
    await expect.poll(() => history.getByText('Version 1', { exact: true }).count()).toBe(0)
    await history.getByRole('button', { name: 'Show older versions' }).click()
    await history.getByText('Version 1', { exact: true }).waitFor()
    await history.getByRole('button', { name: 'Show older versions' }).waitFor({ state: 'detached' })
    await versions.last().getByRole('button', { name: 'Revert to this version' }).click()
    await history.waitFor({ state: 'detached' })
    await expect
      .poll(async () => (await app.service.get(`/api/rules/${rule.id}`)).body)
      .toMatchObject({ content: 'Answer in plain English.', priority: 0 })
  })
})

describe('a deleted instruction', () => {
  test('is restored unchanged', async ({ app }) => {
    const { post, get } = app.service
    const { body: project } = await post('/api/projects', { name: 'Kept' })
    const given = { content: 'Deleted by mistake.', priority: 4, isActive: false, projectId: project.id }
    const { body: rule } = await post('/api/rules', given)
    const page = await app.open('/settings/instructions')
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Kept' }).click()
    const ask = async () =>
      (await get(`/api/rules?includeInactive=true&projectId=${project.id}`)).body.data.filter(
        ({ content }: { content: string }) => content === given.content,
      )
    await page.getByRole('button', { name: /Actions for “Deleted by/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('Instruction deleted').waitFor()
    await expect.poll(ask).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Deleted by mistake.' }).waitFor()
    await expect.poll(ask).toEqual([rule])
  })
})

test('tell how much of a budget they take, and what would not fit', async ({ app }) => {
  for (let number = 1; number <= 3; number++)
    await app.service.post('/api/rules', {
      content: `Rule ${number}. ${'ü 👍 '.repeat(800)}`,
      priority: -number,
    })
  const page = await app.open('/settings/instructions')
  const preview = page.getByRole('region', { name: 'Assistant preview' })
  const bar = preview.getByRole('progressbar', { name: 'Use of the budget' })
  await preview.getByText(/% of 2,500 tokens\. With this budget, [2-9]\d* items would be omitted/).waitFor()
  await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('100')
  await preview.getByText('budgetTokens=2500').waitFor()

  await preview.getByRole('combobox', { name: 'Budget' }).click()
  await page.getByRole('option', { name: '16,000 tokens' }).click()
  await preview.getByText(/% of 16,000 tokens\. Everything fits\./).waitFor()
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeLessThan(100)
  await preview.getByText('budgetTokens=16000').waitFor()
  await page.reload()
  await preview.getByText(/% of 16,000 tokens/).waitFor()
})
