import { afterEach, expect, test } from 'vitest'
import { cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { sendJson } from '../support/send-json.ts'

const DAY_S = 86_400

afterEach(cleanUp)

test.each([DAY_S, -DAY_S])(
  'a clock that is %i s off is logged once, and claims and changes go by the database',
  async (seconds) => {
    const { connectionString, drop } = await freshDatabase()
    const env = { DATABASE_URL: connectionString }
    const [off, right] = [
      spawnInlet({ env: { ...env, NODE_OPTIONS: shifted(seconds) } }),
      spawnInlet({ env }),
    ]
    const [offUrl, rightUrl] = [await off.url, await right.url]

    const lines = off
      .output()
      .split('\n')
      .filter((line) => line.includes('the clock of this machine'))
    expect(lines).toHaveLength(1)
    const { level, seconds: logged } = JSON.parse(lines[0] ?? '')
    expect([level, Math.round(logged / 60)]).toEqual([40, seconds / 60])
    expect(right.output()).not.toContain('the clock of this machine')

    const send = async (url: string, method: string, body?: object) =>
      (await (await sendJson(url, { method, body })).json()) as { id: string; claim: object }
    const { id } = await send(`${offUrl}/api/tasks`, 'POST', { title: 'Claimed' })
    const { claim } = await send(`${offUrl}/api/tasks/${id}/claim`, 'POST', {})
    expect((await send(`${rightUrl}/api/tasks/${id}`, 'GET')).claim).toEqual(claim)
    for (const [here, there] of [
      [offUrl, rightUrl],
      [rightUrl, offUrl],
    ] as const) {
      const { nextCursor } = await changes(here)
      const { id } = await send(`${there}/api/tasks`, 'POST', { title: 'Later' })
      for (const url of [here, there])
        expect((await changes(url, `?cursor=${nextCursor}`)).data).toMatchObject([
          { type: 'task.created', taskId: id },
        ])
    }
    for (const inlet of [off, right]) {
      inlet.process.kill('SIGTERM')
      expect(await inlet.ended).toMatchObject({ code: 0 })
    }
    await drop()
  },
)

async function changes(url: string, query = '') {
  return (await (await sendJson(`${url}/api/changes${query}`)).json()) as {
    data: object[]
    nextCursor: string
  }
}

/** Options of Node for a process whose clock is so far ahead. */
function shifted(seconds: number): string {
  const program = `const Real = Date
    globalThis.Date = class extends Real {
      constructor(...given) { given.length > 0 ? super(...given) : super(Date.now()) }
      static now() { return Real.now() + ${seconds * 1_000} }
    }`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}
