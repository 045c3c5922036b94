import { describe, expect } from 'vitest'
import type { Locator, Page } from '../tools/playwright.ts'
import { createTask, expectNone, panelOf, rowOf, taskOf, test, violationsOn } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const TITLES = {
  short: 'Short',
  long: 'Titles as long as they may be '.repeat(17).slice(0, 500).trim(),
  unbroken: 'x'.repeat(500),
  rightToLeft: 'الصفحة (v2.1) لا تعمل!',
  emoji: '🔥 Crash 👩‍👩‍👧‍👦 on export 🏳️‍🌈',
}
const LABELS = Array.from({ length: 20 }, (_, index) => `label ${index + 1}`)

/** Moves a finger over the middle of an element; without a distance, it stays. */
async function touch(page: Page, target: Locator, { x: distance = 0, holdMs = 0 }) {
  const { x = 0, y = 0, width = 0, height = 0 } = (await target.boundingBox()) ?? {}
  const session = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', moved = 0) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x: x + width / 2 + moved, y: y + height / 2 }],
    })
  await send('touchStart')
  if (holdMs) await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${holdMs}))`)
  for (let step = 1; step <= 8 && distance !== 0; step++) await send('touchMove', (distance * step) / 8)
  await send('touchEnd')
}

const linkOf = (page: Page, title: string) => rowOf(page, title).getByRole('link')

async function openWarm(page: Page) {
  const fetched = () =>
    page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name).join(" ")')
  await expect.poll(fetched).toContain('/early-')
}

describe('rows', () => {
  test.for([390, 768, 1280])('are equally high with any title at %i px', async (width, { app }) => {
    for (const title of Object.values(TITLES))
      await createTask(app, { title, labels: LABELS, assignees: ['ada'] })
    const options = width === 390 ? PHONE : { viewport: { width, height: 844 }, colorScheme: 'dark' as const }
    const page = await app.open('/tasks', options)
    await rowOf(page, TITLES.short).waitFor()
    const cut = await page.evaluate(`[...document.querySelectorAll('[data-task]')].flatMap((row) => {
      const box = row.getBoundingClientRect()
      return [...row.querySelectorAll('a, time')].flatMap((part) => {
        const { top, bottom, right } = part.getBoundingClientRect()
        return top < box.top || bottom > box.bottom || right > box.right ? [part.textContent] : []
      })
    })`)
    expect(cut).toEqual([])
    const heights = await page.evaluate(
      `[...new Set([...document.querySelectorAll('[data-task]')].map((row) => row.offsetHeight))]`,
    )
    expect(heights).toEqual([width === 390 ? 64 : 40])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await violationsOn(page)).toEqual([])
  })

  test('of a phone show the title in two lines, and the rest beneath', async ({ app }) => {
    await createTask(app, { title: TITLES.long, priority: 'high' })
    const page = await app.open('/tasks', PHONE)
    const row = rowOf(page, TITLES.long)
    const title = await row.getByRole('link').boundingBox()
    expect(title?.height).toBe(36)
    for (const part of [row.getByRole('img', { name: 'Priority high' }), row.locator('time')])
      expect((await part.boundingBox())?.y).toBeGreaterThanOrEqual((title?.y ?? 0) + 36)
  })
})

describe('a finger', () => {
  test('completes with a swipe to the right, and snoozes with one to the left', async ({ app }) => {
    const done = await createTask(app, { title: 'Swiped right' })
    const snoozed = await createTask(app, { title: 'Swiped left' })
    const kept = await createTask(app, { title: 'Barely touched' })
    const page = await app.open('/tasks', { ...PHONE, timezoneId: 'Asia/Tokyo' })
    await rowOf(page, 'Swiped left').waitFor()
    await openWarm(page)

    await touch(page, linkOf(page, 'Barely touched'), { x: 60 })
    await touch(page, linkOf(page, 'Swiped right'), { x: 160 })
    await page.getByText('Done: Swiped right').waitFor()
    await expect.poll(async () => (await taskOf(app, done.id)).status).toBe('done')

    await touch(page, linkOf(page, 'Swiped left'), { x: -160 })
    await expect.poll(async () => (await taskOf(app, snoozed.id)).snoozedUntil).not.toBe(null)
    const until = (await taskOf(app, snoozed.id)).snoozedUntil ?? ''
    const local = new Date(until).toLocaleTimeString('en-GB', { timeZone: 'Asia/Tokyo' })
    expect(local).toBe('09:00:00')
    const hours = (Date.parse(until) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(9 - 0.1)
    expect(hours).toBeLessThan(33)
    expect((await taskOf(app, kept.id)).version).toBe(1)
    await expectNone(page, panelOf(page))
  })

  test('selects with a long press, which opens nothing', async ({ app }) => {
    for (const title of ['First', 'Second']) await createTask(app, { title })
    const page = await app.open('/tasks', PHONE)
    await rowOf(page, 'First').waitFor()
    await openWarm(page)
    await touch(page, linkOf(page, 'First'), { holdMs: 700 })
    await page.getByRole('toolbar', { name: 'Selected tasks' }).getByText('1 selected').waitFor()
    await rowOf(page, 'Second').getByRole('checkbox').check()
    await page.getByRole('toolbar').getByText('2 selected').waitFor()
    await expectNone(page, panelOf(page))
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await linkOf(page, 'Second').tap()
    await panelOf(page).getByRole('heading', { name: 'Second' }).waitFor()
  })
})
