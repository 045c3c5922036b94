import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from '../../tools/playwright.ts'
import { type Figure, quantile } from '../support/figures.ts'
import { ADMIN_KEY, type Running, type Setup } from '../support/setup.ts'

const BUILT = fileURLToPath(new URL('../../../dist/dashboard', import.meta.url))
const EDITS = 50
const TITLE = 'Edited by somebody'

/** What the dashboard's first page fetches, and how soon one browser shows what another one changed. */
export async function dashboard(setup: Setup): Promise<Figure[]> {
  return [
    {
      name: 'dashboard: script of the first load, compressed',
      unit: 'KB',
      value: (await firstLoadBytes()) / 1_000,
      valueLimit: { atMost: 120 },
    },
    ...(await editLatencies(setup)),
  ]
}

/** The scripts that the page itself names, with Brotli, as browsers get them. */
async function firstLoadBytes(): Promise<number> {
  const page = await readFile(`${BUILT}/index.html`, 'utf8')
  const names = new Set(Array.from(page.matchAll(/\/assets\/[\w.-]+\.js/g), ([name]) => name))
  const sizes = await Promise.all([...names].map(async (name) => (await stat(`${BUILT}${name}.br`)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function editLatencies(setup: Setup): Promise<Figure[]> {
  // Not imported above: it fetches the driver of the browser.
  const { launchBrowser } = await import('../../tools/playwright.ts')
  const service = await setup.service({ DATABASE_URL: await setup.database('dashboard') })
  const browser = await launchBrowser()
  try {
    const { ok, status } = await fetch(`${service.url}/api/tasks`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ title: TITLE }),
    })
    if (!ok) throw new Error(`The task could not be created: ${status}.`)
    const [editor, viewer] = [await openTasks(browser, service), await openTasks(browser, service)]
    const latencies: number[] = []
    for (let edit = 0; edit < EDITS; edit++) {
      const [now, next] = edit % 2 === 0 ? ['Mark done', 'Reopen'] : ['Reopen', 'Mark done']
      const [seenAt, clickedAt] = await Promise.all([
        viewer.evaluate<number>(timeOf(`${next}: ${TITLE}`)),
        editor.evaluate<number>(clickOn(`${now}: ${TITLE}`)),
      ])
      latencies.push(seenAt - clickedAt)
      // Not in step with the reader of the activity log.
      await editor.waitForTimeout(Math.random() * 200)
    }
    return [
      {
        name: 'dashboard: an edit shown in another browser, median',
        unit: 'ms',
        value: quantile(latencies, 0.5),
      },
      {
        name: 'the same, 95 % within',
        unit: 'ms',
        value: quantile(latencies, 0.95),
        valueLimit: { atMost: 500 },
      },
    ]
  } finally {
    await browser.close()
    await service.stop()
  }
}

/** A page of its own browser profile, signed in and live. */
async function openTasks(browser: Browser, { url }: Running): Promise<Page> {
  const context = await browser.newContext()
  await context.request.post(`${url}/api/sessions`, { data: { key: ADMIN_KEY }, headers: { origin: url } })
  const page = await context.newPage()
  const stream = page.waitForResponse((response) => response.url().endsWith('/api/stream'))
  await page.goto(`${url}/tasks`)
  await stream
  await page.getByRole('link', { name: TITLE }).waitFor()
  return page
}

const buttonOf = (label: string) => `document.querySelector('button[aria-label=${JSON.stringify(label)}]')`

/** Clicks the button and returns the time, which all pages of a machine share. */
const clickOn = (label: string) => `(() => {
  const clickedAt = Date.now()
  ${buttonOf(label)}.click()
  return clickedAt
})()`

/** The time at which the button is there. */
const timeOf = (label: string) => `new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error('The edit was not shown within 10 seconds.')), 10_000)
  const look = () => ${buttonOf(label)} && resolve(Date.now())
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true })
  look()
})`
