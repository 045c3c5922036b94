import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Figure, median } from '../support/figures.ts'
import { install } from '../support/install.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { ADMIN_KEY, query, type Running, type Setup } from '../support/setup.ts'

const LIGHTHOUSE = { name: 'lighthouse', version: '13.5.0' }
const RUNS = 5
const TASKS = 100_000
const CATEGORIES = { performance: 95, accessibility: 100, 'best-practices': 100 }
const FLAGS = '--headless=new --no-sandbox --disable-gpu'

/** The page one begins with, and the list. */
const PATHS = ['/triage', '/tasks']

/** Lighthouse on the pages as a signed-in person sees it, with its mobile preset: a processor slowed down by four. */
export async function lighthouse(setup: Setup): Promise<Figure[]> {
  const folder = await install(setup, LIGHTHOUSE)
  const database = await setup.database('lighthouse')
  await fillWithTasks(database, TASKS)
  await query(database, `update tasks set triaged = false where status = 'open'`, 'vacuum analyze tasks')
  const service = await setup.service({ DATABASE_URL: database })
  try {
    const cookie = await signedIn(service)
    const figures: Figure[] = []
    for (const path of PATHS) {
      const scores: Scores[] = []
      for (let run = 0; run < RUNS; run++)
        scores.push(await recorded(() => scoresOf(`${service.url}${path}`, { folder, cookie })))
      figures.push(...figuresOf(path, scores))
    }
    return figures
  } finally {
    await service.stop()
  }
}

type Scores = Record<string, { score: number | null }>

const figuresOf = (path: string, scores: Scores[]): Figure[] =>
  Object.entries(CATEGORIES).map(([category, atLeast]) => {
    const values = scores.map((each) => (each[category]?.score ?? Number.NaN) * 100)
    return {
      name: `Lighthouse of ${path}, mobile, ${category}`,
      unit: 'points',
      value: median(values),
      values,
      valueLimit: { atLeast },
    }
  })

/** Lighthouse at times misses the begin of a page's load, and asks to be run again. */
async function recorded(run: () => Promise<Scores>): Promise<Scores> {
  try {
    return await run()
  } catch (error) {
    if (!String(error).includes('NO_NAVSTART')) throw error
    return run()
  }
}

async function scoresOf(
  url: string,
  { folder, cookie }: { folder: string; cookie: string },
): Promise<Scores> {
  const file = join(folder, 'report.json')
  await promisify(execFile)(
    process.execPath,
    [
      join(folder, 'node_modules/lighthouse/cli/index.js'),
      url,
      '--quiet',
      '--no-enable-error-reporting',
      '--output=json',
      `--output-path=${file}`,
      `--only-categories=${Object.keys(CATEGORIES).join(',')}`,
      `--extra-headers=${JSON.stringify({ cookie })}`,
      `--chrome-flags=${FLAGS}`,
    ],
    { env: { ...process.env, CHROME_PATH: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' } },
  )
  const { categories, runtimeError, finalDisplayedUrl } = JSON.parse(await readFile(file, 'utf8'))
  if (runtimeError) throw new Error(runtimeError.message)
  if (finalDisplayedUrl !== url) throw new Error(`Lighthouse saw ${finalDisplayedUrl} instead of ${url}.`)
  return categories
}

/** The cookie of a new session. */
async function signedIn({ url }: Running): Promise<string> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ key: ADMIN_KEY }),
  })
  const [cookie] = response.headers.getSetCookie()
  if (!cookie) throw new Error(`No session: ${response.status} ${await response.text()}`)
  return cookie.split(';', 1)[0] ?? ''
}
