import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, collectErrors, testWith } from './support/browser.ts'
import { type Filled, startFilled } from './support/filled-service.ts'
import { faultsOf, settled } from './support/looks.ts'
import { signInByPassword } from './support/people.ts'
import { openedViews, pageViews, SIGNED_OUT_PATHS } from './support/views.ts'

const test = testWith(startFilled)

const SIZES = [
  { kind: 'wide', width: 1280, height: 800, target: 32 },
  { kind: 'phone', width: 390, height: 844, target: 44 },
] as const
type Size = (typeof SIZES)[number]

interface Shown {
  name: string
  path: string
  open(page: Page): Promise<unknown>
  /** The part of the page that is checked; the page itself has its own view. */
  within?: string
}

const pages = (ids: Filled['ids']): Shown[] =>
  pageViews(ids).map(({ open, ...view }) => ({ ...view, open: async (page) => open?.(page) }))

const DIALOG = '[role="dialog"], dialog[open]'

/** The dialogs, popovers and menus. */
const opened = (ids: Filled['ids'], { kind }: Size): Shown[] =>
  Object.entries(openedViews(ids)).flatMap(([file, views]) =>
    views
      .filter(([, , only = kind]) => only === kind)
      .map(([path, open], index) => ({
        name: `${file} ${index + 1}`,
        path,
        within: '[data-opened]',
        async open(page) {
          await open(page)
          await page.locator(`[role="menu"], ${DIALOG}`).first().waitFor()
          const menu = page.getByRole('menu')
          const opened = (await menu.count()) > 0 ? menu : page.locator(DIALOG).last()
          await opened.evaluate((element) => element.setAttribute('data-opened', ''))
        },
      })),
  )

describe('in both themes, axe finds nothing, all fits, and targets are large enough', () => {
  test.for(SIZES.flatMap((size) => [pages, opened].map((shown) => ({ ...size, shown }))))(
    'at $width px: $shown.name',
    async ({ shown, ...size }, { app }) => {
      const page = await openWith(app, size)
      await signInByPassword(page, 'mira')
      await page.getByRole('heading', { level: 1, name: 'Triage' }).waitFor()
      const faults = collectErrors(page)
      for (const view of shown(app.service.ids, size))
        faults.push(...(await faultsIn(page, { ...size, ...view, url: app.service.url + view.path })))
      expect(faults).toEqual([])
    },
  )

  test.for(SIZES)('at $width px: pages without a session', async (size, { app }) => {
    const page = await openWith(app, size)
    const faults: string[] = []
    for (const path of SIGNED_OUT_PATHS) {
      // A new hash alone loads no new document.
      await page.goto('about:blank')
      const view = { name: path, path, open: async () => {} }
      faults.push(...(await faultsIn(page, { ...size, ...view, url: app.service.url + path })))
    }
    expect(faults).toEqual([])
  })
})

async function openWith({ open }: Pick<AppInBrowser, 'open'>, { kind, width, height }: Size): Promise<Page> {
  const touch = kind === 'phone' && { hasTouch: true, isMobile: true }
  const viewport = { width, height }
  const page = await open('/sign-in', { key: null, viewport, reducedMotion: 'reduce', ...touch })
  page.setDefaultTimeout(15_000)
  return page
}

async function faultsIn(page: Page, view: Shown & Size & { url: string }): Promise<string[]> {
  const { name, url, open } = view
  try {
    await page.goto(url)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    // What comes late moves a menu out of sight together with its button.
    await settled(page)
    await open(page)
    return (await faultsOf(page, view)).map((fault) => `${name}: ${fault}`)
  } catch (error) {
    return [`${name}: ${error}`]
  }
}

const DASHBOARD = fileURLToPath(new URL('../../src/dashboard/', import.meta.url))
const IDS = {
  mobile: 'id',
  website: 'id',
  empty: 'id',
  crowded: 'id',
  deactivated: 'id',
  group: 'id',
  task: 'id',
  gone: 'id',
  claimed: 'id',
}

describe('the views that are checked', () => {
  test('include every page', () => {
    const paths = [...pageViews(IDS).map(({ path }) => path), ...SIGNED_OUT_PATHS]
    const routes = readFileSync(`${DASHBOARD}routes.tsx`, 'utf8').matchAll(
      /<Route path="(.+?)" component|<Route path="(.+?)">\n *<(?!Redirect|Moved)/g,
    )
    const patterns = [...routes].map(([, page, layout]) => page ?? layout ?? '')
    expect(patterns.length).toBeGreaterThan(20)
    const unseen = patterns.filter((pattern) => !paths.some((path) => matches(pattern, path)))
    expect(unseen).toEqual([])
  })

  test('include every file that opens a dialog, popover or menu', () => {
    const files = globSync('**/*.tsx', { cwd: DASHBOARD }).filter(
      (file) =>
        // Those are what the others are made of.
        !file.startsWith('components/') && OPENER.test(readFileSync(DASHBOARD + file, 'utf8')),
    )
    expect(files.toSorted()).toEqual([...Object.keys(openedViews(IDS)), ...ELSEWHERE].toSorted())
  })
})

const matches = (pattern: string, path: string) =>
  new RegExp(
    `^${pattern
      .replace('*', '.+')
      .replace(/\/:\w+\?/, '(/[^/?]+)?')
      .replace(/:\w+/, '[^/?]+')}([?#].*)?$`,
  ).test(path)

const OPENER =
  /<(Modal|Drawer|Popover|Menu|MenuButton|OpenMenu|dialog|ConfirmDialog|SecretDialog|NameDialog)\b/

/** These are in appearance.test.ts with another session. */
const ELSEWHERE = ['session/sign-in-dialog.tsx', 'shell/first-owner-dialog.tsx']
