import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import type { Page } from '../tools/playwright.ts'
import { createTask, panelOf, rowOf, taskOf, testWith, violationsOn } from './support/browser.ts'
import { openAndClosePalette, press } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

const ROW_PX = 40
const TWO_LINE_ROW_PX = 64

const LABELS = Array.from({ length: 20 }, (_, number) => `label ${number} of a long kind`)
const TITLES = {
  long: 'word '.repeat(100).trim(),
  unbroken: 'x'.repeat(500),
  hebrew: 'ההתראות מגיעות פעמיים '.repeat(22).trim(),
  mixed: 'Crash in مرحبا‮ then LTR',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🇩🇪'.repeat(20),
}

/** What is wider than what contains it, and rows of another height. */
const brokenIn = (page: Page, height: number) =>
  page.evaluate(`(() => {
    const rows = [...document.querySelectorAll('[data-task]')]
    const wide = document.documentElement.scrollWidth - innerWidth
    const list = document.querySelector('[data-list]')
    return [
      ...(wide > 0 ? ['page ' + wide] : []),
      ...(list.scrollWidth > list.clientWidth ? ['list ' + list.scrollWidth] : []),
      ...rows.flatMap((row) => {
        const box = row.getBoundingClientRect()
        const inner = [...row.children].filter((child) => {
          const { left, right, top, bottom, width } = child.getBoundingClientRect()
          return width > 1 && (right > box.right + 1 || left < box.left - 1 || bottom > box.bottom + 1 || top < box.top - 1)
        })
        const cut = [...row.children].filter((child) => /^\\+/.test(child.textContent) && child.scrollWidth > child.clientWidth)
        return [...cut.map((child) => 'cut ' + child.textContent), ...(box.height === ${height} ? [] : ['row ' + box.height]), ...inner.map((child) => child.className)]
      }),
    ]
  })()`)

describe('the triage page', () => {
  test('keeps its rows whole with long, right-to-left and emoji titles and many labels', async ({ app }) => {
    for (const title of Object.values(TITLES))
      await createTask(app, { title, labels: LABELS, assignees: LABELS })
    for (const [width, height] of [
      [1280, ROW_PX],
      [390, TWO_LINE_ROW_PX],
    ] as const) {
      const page = await app.open('/triage', { viewport: { width, height: 844 }, reducedMotion: 'reduce' })
      await page.getByText('5 left').waitFor()
      await rowOf(page, 'Crash in').waitFor()
      expect(await brokenIn(page, height)).toEqual([])
      expect(await violationsOn(page)).toEqual([])
      await page.close()
    }
  })

  test('highlights the row of an open task that is not the first of its group', async ({ app }) => {
    const send = sender(app.service.url, WEBHOOK_SECRET)
    await createTask(app, { title: 'Before' })
    const note = 'Notifications arrive twice'
    const ids = [(await send(feedback({ note }))).body.taskId, (await send(feedback({ note }))).body.taskId]
    await createTask(app, { title: 'After' })
    const page = await app.open(`/triage/${ids[1]}`)
    // The panel has a list of similar tasks.
    const row = page.locator('[data-task]').filter({ hasText: note })
    await row.getByText('×2').waitFor()
    await expect.poll(() => row.getAttribute('aria-current')).toBe('true')
    // What triggered it and how somebody felt is said by the icon, and in the panel.
    await expect.poll(() => row.getByText('manual').count()).toBe(0)
    await panelOf(page).getByText('manual').first().waitFor()
    await press(page, 'j')
    await panelOf(page).getByText('After', { exact: true }).waitFor()
  })
})

describe('a snooze', () => {
  test('until yesterday is refused in words, until 9999 and over a change of the clocks is as typed', async ({
    app,
  }) => {
    const ids: string[] = []
    for (const title of ['Yesterday', 'Far', 'Summer', 'Skipped'])
      ids.push((await createTask(app, { title })).id)
    const page = await app.open('/triage', { timezoneId: 'Europe/Berlin' })
    await rowOf(page, 'Skipped').waitFor()
    await openAndClosePalette(page)
    const type = async (text: string) => {
      await press(page, 'h')
      await page.getByRole('combobox', { name: 'Snooze until' }).waitFor()
      await press(page, '5')
      await page.getByPlaceholder('Year-month-day').waitFor()
      await page.keyboard.type(text)
    }
    const until = async (index: number) => (await taskOf(app, ids[index] ?? '')).snoozedUntil

    await type(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10))
    await page.getByText('Choose a date in the future.').waitFor()
    await press(page, 'Enter', 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await until(0)).toBe(null)
    await press(page, 'y')
    await rowOf(page, 'Yesterday').waitFor({ state: 'detached' })

    await type('9999-12-31')
    await press(page, 'Enter')
    await expect.poll(() => until(1)).toBe('9999-12-31T08:00:00.000Z')
    await rowOf(page, 'Far').waitFor({ state: 'detached' })
    await page.getByText(/Snoozed until .*9999/).waitFor()

    // Nine in the morning by the clock, an hour earlier in summer.
    await type('2027-03-28')
    await press(page, 'Enter')
    await expect.poll(() => until(2)).toBe('2027-03-28T07:00:00.000Z')
    await rowOf(page, 'Summer').waitFor({ state: 'detached' })

    // The clock never shows this time: it is shown as what it becomes.
    await type('2027-03-28 02:30')
    await page
      .getByText(/28 Mar 2027, 0?3:30/)
      .first()
      .waitFor()
    await press(page, 'Enter')
    await expect.poll(() => until(3)).toBe('2027-03-28T01:30:00.000Z')
    await page.getByText('Nothing left to triage').waitFor()
  })

  test('until a year with five digits by the clock of the service is refused in words', async ({ app }) => {
    await createTask(app, { title: 'Far west' })
    const page = await app.open('/triage', { timezoneId: 'America/New_York' })
    await rowOf(page, 'Far west').waitFor()
    await openAndClosePalette(page)
    await press(page, 'h', '5')
    await page.getByPlaceholder('Year-month-day').waitFor()
    await page.keyboard.type('9999-12-31 23:00')
    await page.getByText('Choose an earlier date.').waitFor()
  })
})
