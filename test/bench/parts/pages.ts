import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeCursor } from '../../../src/domain/cursor.ts'
import { type Figure, inPairs, quantile } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { fillWithAMillion, SMALL_PROJECT, TASKS, WORDS } from '../support/million.ts'
import { ADMIN_KEY, query, type Running, type Stage } from '../support/stage.ts'

const SECONDS = 4
/** Until then much of the code is interpreted. */
const WARM_UP_SECONDS = 4
const SEARCHES = 20
/** Of a search, in milliseconds. */
const MOST = 300

/** Pages and searches at a million tasks: a page against Fastify alone sending the same bytes, a search in time. */
export async function pages(stage: Stage): Promise<Figure[]> {
  const database = await stage.database('pages')
  const since = performance.now()
  await fillWithAMillion(database)
  console.error(`         a million tasks in ${Math.round((performance.now() - since) / 1000)} s`)
  const service = await stage.service({ DATABASE_URL: database })
  try {
    const [last] = await query<{ id: string }>(
      database,
      `select id from tasks order by id desc offset ${TASKS * 0.9} limit 1`,
    )
    const cursor = encodeCursor('-createdAt', { key: null, id: last?.id ?? '' })
    return [
      await page(stage, service, 'a page of 50 of a million, the first', '/api/tasks'),
      await page(stage, service, 'the same, after 90 % of the tasks', `/api/tasks?cursor=${cursor}`),
      ...(await searches(service)),
      await searchOfSmallProject(database, service),
    ]
  } finally {
    await service.stop()
  }
}

async function page(stage: Stage, service: Running, name: string, path: string): Promise<Figure> {
  const headers = { 'x-api-key': ADMIN_KEY }
  const file = join(stage.directory, 'page.json')
  await writeFile(file, await (await fetch(service.url + path, { headers })).text())
  const bare = await stage.bare('bare.ts', { BARE_BODY: file })
  const asked = { connections: 8, method: 'GET', headers, status: 200 } as const
  const ours = (seconds: number) => requestsPerSecond({ ...asked, url: service.url, path, seconds })
  const measure = (seconds: number) => requestsPerSecond({ ...asked, url: bare.url, path: '/', seconds })
  await ours(WARM_UP_SECONDS)
  await measure(WARM_UP_SECONDS)
  const reference = { name: 'Fastify with the same bytes', measure: () => measure(SECONDS) }
  return inPairs({ name, unit: '/s', ours: () => ours(SECONDS), reference }).finally(bare.stop)
}

/** One after another, each word as often; each time another case, so that nothing can remember an answer. */
async function searches(service: Running): Promise<Figure[]> {
  const all: number[] = []
  const figures: Figure[] = []
  for (const [word, percent] of Object.entries(WORDS)) {
    const delays = await delaysOf(service, word, percent > 0 ? 50 : 0)
    const name = `search of a million, a word in ${percent} % of them, 95 % of the answers within`
    figures.push({ name, unit: 'ms', ours: quantile(delays, 0.95), mostOfOurs: MOST })
    all.push(...delays)
  }
  const name = 'search of a million, all these words, 95 % of the answers within'
  return [
    ...figures,
    { name, unit: 'ms', ours: quantile(all, 0.95), reference: { name: 'limit', value: MOST } },
  ]
}

/** The word is frequent everywhere, and what is asked for beside it is nowhere: no page is filled on the way. */
async function searchOfSmallProject(database: string, service: Running): Promise<Figure> {
  const [project] = await query<{ id: string }>(
    database,
    `select id from projects where name = '${SMALL_PROJECT.name}'`,
  )
  const delays = await delaysOf(service, 'export', 0, `&projectId=${project?.id}&status=in_progress`)
  const name = `search of a project of ${SMALL_PROJECT.tasks} beside a million, a frequent word, 95 % of the answers within`
  return { name, unit: 'ms', ours: quantile(delays, 0.95), mostOfOurs: MOST }
}

/** Milliseconds of each search; it has to find so many tasks. */
async function delaysOf(service: Running, word: string, count: number, more = ''): Promise<number[]> {
  const delays: number[] = []
  for (let time = 0; time < SEARCHES; time++) {
    const begin = performance.now()
    const answer = await fetch(`${service.url}/api/tasks?q=${inCase(word, time)}${more}`, {
      headers: { 'x-api-key': ADMIN_KEY },
    })
    const { data } = (await answer.json()) as { data?: unknown[] }
    delays.push(performance.now() - begin)
    if (data?.length !== count) throw new Error(`${answer.status} with ${data?.length} tasks for ${word}`)
  }
  return delays
}

const inCase = (word: string, time: number) =>
  [...word].map((letter, at) => ((time >> at) & 1 ? letter.toUpperCase() : letter)).join('')
