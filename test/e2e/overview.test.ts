import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { countAll } from '../support/overview.ts'
import type { Page } from '../tools/playwright.ts'
import { createTask, expectNone, smallTargets, test, testWith, violationsOn } from './support/browser.ts'

const testFeedback = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

/** What the pictures are drawn with. */
const PART_COLOURS = `['--part-0', '--part-3', '--part-5', '--accent-text', '--red', '--green', '--amber'].map((name) => {
  document.body.style.outlineColor = 'var(' + name + ')'
  return getComputedStyle(document.body).outlineColor
})`

/** What goes beyond the edge of the paper; names in lines end with an ellipsis. */
const TOO_WIDE = `[...document.querySelectorAll('main :not(bdi)')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth)
  .map((element) => element.outerHTML.slice(0, 80))`

/** Asserts that nothing is wider than A4 without its margins. */
async function expectOnPaper(page: Page): Promise<void> {
  await page.setViewportSize({ width: 718, height: 1_000 })
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await expect.poll(() => page.evaluate(TOO_WIDE)).toEqual([])
}

describe('the overview', () => {
  test('shows what was opened and closed, what waits, and the same as a table', async ({ app }) => {
    const { service } = app
    await createTask(app, { title: 'Waits' })
    const done = await createTask(app, { title: 'Done', triaged: true })
    await service.patch(`/api/tasks/${done.id}`, { status: 'done' })
    await countAll(service)

    const page = await app.open('/overview')

    await page.getByRole('term').filter({ hasText: 'To triage' }).waitFor()
    await page
      .getByRole('definition')
      .filter({ hasText: 'The oldest came' })
      .getByRole('link', { name: '1' })
      .waitFor()
    await page.getByRole('definition').filter({ hasText: '1 closed' }).getByText('2 opened').waitFor()
    await page.getByText('Median; nine of ten within a day').waitFor()
    const picture = page.getByRole('figure', { name: 'Opened and closed' })
    await picture.getByRole('img').waitFor()
    await picture.getByText('Figures as a table').click()
    const lastWeek = picture.getByRole('row').last()
    await expect
      .poll(() => lastWeek.getByRole('cell').allInnerTexts())
      .toEqual(['2', '2', '1', '0', '0', '0', '1'])
    await expect
      .poll(() => picture.getByRole('columnheader').allInnerTexts())
      .toEqual([
        'Week of',
        'Opened',
        'API',
        'Closed',
        'By people',
        'By assistants',
        'By code host',
        'By other systems',
      ])
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 32)).toEqual([])
  })

  test('is printed with its figures, without its controls, in the colours of the light theme', async ({
    app,
  }) => {
    await createTask(app, { title: 'Waits' })
    await countAll(app.service)
    const page = await app.open('/overview', { colorScheme: 'light' })
    const picture = page.getByRole('figure', { name: 'Opened and closed' })
    await picture.getByRole('img').waitFor()
    const colours = () => page.evaluate(PART_COLOURS)
    const light = await colours()
    const figures = picture.getByRole('region', { name: 'Figures: Opened and closed' })
    await expect.poll(() => figures.isVisible()).toBe(false)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(colours).not.toEqual(light)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await expect.poll(colours).toEqual(light)
    await figures.getByRole('row').last().getByRole('cell', { name: '1' }).first().waitFor()
    await picture.getByRole('img').waitFor()
    for (const control of [picture.getByText('Figures as a table'), page.getByLabel('26 weeks')])
      await control.waitFor({ state: 'hidden' })
    expect(await violationsOn(page, { rules: ['color-contrast'] })).toEqual([])
    await expectOnPaper(page)
  })

  test('says so when there is nothing yet, and nothing fails', async ({ app }) => {
    await countAll(app.service)
    const page = await app.open('/overview')
    await page.getByText('Nothing waits').waitFor()
    await page.getByText('Everything is done').waitFor()
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
    await page.getByRole('link', { name: 'Add a source' }).waitFor()
    await expectNone(page, page.getByRole('figure'))
    await page.getByText('Nothing comes in or goes out yet.').waitFor()
    await expectNone(page, page.getByRole('heading', { name: 'Failing' }))
  })

  test('does not say that nothing was closed when tasks were merged', async ({ app }) => {
    const target = await createTask(app, { title: 'Waits' })
    const report = await createTask(app, { title: 'Waits, too' })
    await app.service.post(`/api/tasks/${report.id}/merge`, { into: target.id })
    await countAll(app.service)
    const page = await app.open('/overview')
    await page.getByRole('definition').filter({ hasText: '1 closed' }).waitFor()
    await page.getByText('Only merged tasks were closed in these weeks').waitFor()
  })

  test('keeps the project and the weeks in its address, on both pages', async ({ app }) => {
    const { body: project } = await app.service.post('/api/projects', { name: 'Mobile' })
    await createTask(app, { title: 'Elsewhere' })
    await countAll(app.service)
    const page = await app.open('/overview?weeks=26')
    await expect.poll(() => page.getByLabel('26 weeks').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Project', exact: true }).click()
    await page.getByRole('menuitemradio', { name: 'Mobile' }).click()
    await page.getByText('Nothing waits').waitFor()
    await page
      .getByRole('navigation', { name: 'Overview pages' })
      .getByRole('link', { name: 'Feedback' })
      .click()
    await page.getByText('No feedback in these weeks').waitFor()
    await expect.poll(() => new URL(page.url()).search).toBe(`?projectId=${project.id}&weeks=26`)
    await page.reload()
    await expect.poll(() => page.getByLabel('26 weeks').isChecked()).toBe(true)
  })

  test('is reached by keys and fits a phone in the dark', async ({ app }) => {
    await createTask(app, { title: 'Waits' })
    await countAll(app.service)
    const page = await app.open('/tasks', {
      viewport: { width: 390, height: 780 },
      colorScheme: 'dark',
      hasTouch: true,
    })
    await page.getByRole('button', { name: /Waits/ }).first().waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('figure', { name: 'Opened and closed' }).getByRole('img').waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 44)).toEqual([])
  })

  testFeedback(
    'of feedback shows how versions were received, and what most people report',
    async ({ app }) => {
      const send = sender(app.service.url, WEBHOOK_SECRET)
      const now = new Date().toISOString()
      for (const [sentiment, app_version] of [
        ['loved', '2.3.1'],
        ['frustrated', '2.3.1'],
        ['frustrated', '版本 3'],
        ['delighted', '2.3.1'],
      ])
        await send(
          feedback({ sentiment, app_version, note: 'Notifications arrive twice' }, { timestamp: now }),
        )
      await countAll(app.service)

      const page = await app.open('/overview/feedback')

      const versions = page.getByRole('figure', { name: 'Sentiment for each version' })
      await versions.getByRole('img', { name: 'Loved: 1, Meh: 0, Frustrated: 1' }).waitFor()
      await versions.getByText('Figures as a table').click()
      await expect
        .poll(() =>
          versions
            .getByRole('row', { name: /版本 3/ })
            .getByRole('cell')
            .allInnerTexts(),
        )
        .toEqual(['0', '0', '1'])
      expect(await violationsOn(page)).toEqual([])
    },
  )

  test('of feedback has the reports of each week, and on paper what it has room for', async ({ app }) => {
    const { service } = app
    const { inbox } = await service.given.project()
    const target = await service.given.task(inbox, { title: `Crash ${'w'.repeat(150)}` })
    const report = await service.given.task(inbox, { title: 'Crash' })
    await service.post(`/api/tasks/${report.id}/merge`, { into: target.id })
    await countAll(service)

    const page = await app.open('/overview/feedback?weeks=52')

    const problems = page.getByRole('figure', { name: 'Problems with most reports' })
    await problems.getByText('Figures as a table').click()
    const heads = problems.getByRole('columnheader')
    await expect.poll(() => heads.count()).toBe(54)
    const names = await heads.allInnerTexts()
    expect(names.slice(0, 2)).toEqual(['Problem', 'Reports'])
    for (const name of names.slice(2)) expect(name).toMatch(/^[1-3]?\d [A-Z][a-z]{2}$/)
    await expect.poll(() => problems.getByRole('cell').allInnerTexts()).toMatchObject({ 0: '2', 52: '2' })
    expect(await violationsOn(page)).toEqual([])

    await page.emulateMedia({ media: 'print' })
    await expect
      .poll(() => problems.getByRole('columnheader').allInnerTexts())
      .toEqual(['Problem', 'Reports'])
    await expectOnPaper(page)
  })
})
