import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from '../../tools/playwright.ts'

/** Presses keys one after another: each when the page has handled the one before. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Real key events. None of them waits until the page has handled the one before. */
export async function pressAtOnce(page: Page, keys: string[], gap = 0): Promise<void> {
  const sent: Promise<void>[] = []
  for (const key of keys) {
    if (key.includes('+')) {
      // Otherwise those before and after it would have its modifier.
      await Promise.all(sent.splice(0))
      await page.keyboard.press(key)
    } else sent.push(page.keyboard.down(key), page.keyboard.up(key))
    if (gap > 0) await sleep(gap)
  }
  await Promise.all(sent)
}

/** The code of the palette is fetched when the page is idle. */
export async function openAndClosePalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
