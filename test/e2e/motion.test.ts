import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { panelOf, rowOf, test } from './support/browser.ts'

/** Records transitions and animations with their durations. */
const WATCH = `
  window.motions = []
  const longest = (times) => Math.max(...times.split(',').map((time) => Number.parseFloat(time) * 1000))
  addEventListener('transitionrun', ({ target }) =>
    motions.push({ name: target.className, ms: longest(getComputedStyle(target).transitionDuration) }), true)
  addEventListener('animationstart', ({ target }) =>
    motions.push({ name: target.className, ms: longest(getComputedStyle(target).animationDuration) }), true)
`

/** Menus, dialogs, the panel, what is said at the edge and taken back. */
async function walk(page: Page) {
  await rowOf(page, 'Moving').waitFor()
  await page.getByRole('button', { name: 'Status: Open, In progress' }).click()
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await rowOf(page, 'Moving').getByRole('link').click()
  await panelOf(page).getByText('Moving').waitFor()
  await page.keyboard.press('e')
  await page.getByText('Done: Moving').waitFor()
  await page.keyboard.press('z')
  await page.getByRole('button', { name: 'Mark done: Moving' }).waitFor()
}

/** The component library uses 1 ms for no motion. */
const motionsOf = async (page: Page) =>
  (await page.evaluate('motions.filter(({ ms }) => ms > 1)')) as { name: string; ms: number }[]

describe('motion', () => {
  test('is disabled with reduced motion', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Moving' })
    const page = await app.open('/sign-in', { reducedMotion: 'reduce' })
    await page.addInitScript(WATCH)
    await page.goto(`${app.service.url}/tasks`)
    await walk(page)
    expect(await motionsOf(page)).toEqual([])
  })

  test('is short otherwise', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Moving' })
    const page = await app.open('/sign-in')
    await page.addInitScript(WATCH)
    await page.goto(`${app.service.url}/tasks`)
    await walk(page)
    const motions = await motionsOf(page)
    expect(motions.length).toBeGreaterThan(0)
    expect(motions.filter(({ ms }) => ms > 150)).toEqual([])
  })
})
