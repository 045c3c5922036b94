import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { createTask, panelOf, rowOf, test, violationsOn } from './support/browser.ts'

/** Controls of the bar that are cut or not in its line. */
const misplacedIn = (page: Page) =>
  page.evaluate(`(() => {
    const bar = document.querySelector('search').getBoundingClientRect()
    return [...document.querySelectorAll('search :is(button, input)')].flatMap((control) => {
      const { left, right, top, bottom, width } = control.getBoundingClientRect()
      if (!control.checkVisibility({ visibilityProperty: true }) || width === 0) return []
      const isInside = left >= bar.left && right <= bar.right && top >= bar.top && bottom <= bar.bottom
      const isCut = !control.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2)) && control.tagName === 'BUTTON'
      return isInside && !isCut ? [] : [control.textContent || control.getAttribute('aria-label')]
    })
  })()`)

const boxesOfRows = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('[data-task]')].slice(0, 8).map((row) => {
    const { top, height } = row.getBoundingClientRect()
    return [row.dataset.task, top, height]
  })`)

const FILTERED =
  '/tasks?status=["open","in_progress"]&priority=["high","medium"]&label=["a+label+that+is+long","another"]&assignee=["grace.hopper"]&isReady=true'

describe('the line of filters', () => {
  for (const width of [390, 768, 1024, 1280, 1600])
    test(`is one line that is not cut at ${width} px, also beside an open task`, async ({ app }) => {
      await createTask(app, { title: 'Shown' })
      const page = await app.open('/tasks', { viewport: { width, height: 800 } })
      await page.getByRole('button', { name: /^Filters/ }).waitFor()
      const heightOf = async () => (await page.getByRole('search').boundingBox())?.height
      const height = await heightOf()
      for (const path of ['/tasks', FILTERED]) {
        await page.goto(app.service.url + path)
        await page.getByRole('button', { name: /^Filters/ }).waitFor()
        await expect.poll(() => misplacedIn(page)).toEqual([])
        expect(await heightOf()).toBe(height)
      }
      await page.goto(`${app.service.url}/tasks`)
      await rowOf(page, 'Shown').waitFor()
      if (width <= 800) return expect(await violationsOn(page)).toEqual([])
      await rowOf(page, 'Shown').getByRole('link').click()
      await panelOf(page).getByRole('heading', { name: 'Shown' }).waitFor()
      await expect.poll(() => misplacedIn(page)).toEqual([])
      expect(await heightOf()).toBe(height)
      expect(await violationsOn(page)).toEqual([])
    })

  test.for([1280, 1600])('does not move rows when a task opens at %i px', async (width, { app }) => {
    const { id, inbox } = await app.service.given.project({
      name: `A project with a long name ${'x'.repeat(60)}`,
    })
    for (let number = 0; number < 20; number++)
      await app.service.given.task(inbox, {
        title: `${number} ${'long title '.repeat(number)}`,
        labels: ['a', 'b'],
      })
    const page = await app.open(`/tasks?projectId=${id}&priority=["medium"]&label=["a"]`, {
      viewport: { width, height: 800 },
    })
    await page.getByRole('button', { name: /^Filters/ }).waitFor()
    await page.locator('[data-task]').nth(3).waitFor()
    const before = await boxesOfRows(page)
    await page.getByRole('listitem').nth(3).getByRole('link').click()
    await panelOf(page).getByRole('heading').first().waitFor()
    expect(await boxesOfRows(page)).toEqual(before)
    await page.keyboard.press('Escape')
    await panelOf(page).waitFor({ state: 'detached' })
    expect(await boxesOfRows(page)).toEqual(before)
  })

  test('has in its menu what does not fit', async ({ app }) => {
    await createTask(app, { title: 'Urgent', priority: 'high', labels: ['bug'] })
    await createTask(app, { title: 'Ordinary', priority: 'medium' })
    const page = await app.open('/tasks', { viewport: { width: 390, height: 844 } })
    await rowOf(page, 'Ordinary').waitFor()
    const menu = page.getByRole('button', { name: /^Filters/ })
    await menu.click()
    await page.getByRole('button', { name: 'Priority' }).click()
    await page.getByRole('checkbox', { name: 'High' }).check()
    await rowOf(page, 'Ordinary').waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Low' }).check()
    await page.waitForURL(/priority=.*high.*low/)
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove filter' }).click()
    await rowOf(page, 'Ordinary').waitFor()
    await menu.click()
    await page.getByRole('button', { name: 'Label' }).click()
    await page.getByRole('combobox', { name: 'Filter by label' }).fill('bu')
    await page.keyboard.press('Enter')
    await rowOf(page, 'Ordinary').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await menu.click()
    await page.getByRole('button', { name: 'Save filter' }).click()
    await page.getByRole('dialog', { name: 'Save filter' }).getByLabel('Name').fill('Bugs')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Filter “Bugs” saved').waitFor()
  })
})
