import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { deliver, type HostWebhook } from '../support/code-host-deliveries.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'

const POLLING = { timeout: 30_000, interval: 100 }

let host: CodeHostFake
const databases: { drop(): Promise<void> }[] = []
beforeAll(async () => {
  host = await startCodeHost({ tokens: { one: { login: 'one-bot' }, other: { login: 'other-bot' } } })
})
afterAll(async () => {
  await cleanUp()
  await host.close()
  for (const database of databases) await database.drop()
})

/** Inlet in a process and with a database of its own, connected to a repository. */
async function startInlet(token: string, repository: string) {
  const database = await freshDatabase()
  databases.push(database)
  const inlet = spawnInlet({
    env: {
      DATABASE_URL: database.connectionString,
      CODEHOST_API_URLS: host.url,
      ENCRYPTION_KEY: 'ab'.repeat(32),
    },
  })
  const url = await inlet.url
  async function send(method: string, path: string, body?: object): Promise<ApiResponse['body']> {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', prefer: 'wait=60' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    expect(response.status).toBeLessThan(300)
    return response.status === 204 ? undefined : response.json()
  }
  const { id } = await send('POST', '/api/projects', { name: 'The same repository' })
  const connection = { repository, token, schedule: 'off', writeBack: 'comments', comments: true }
  const { webhook } = await send('PUT', `/api/projects/${id}/codehost`, connection)
  const tasks = async (): Promise<ApiResponse['body'][]> =>
    (await send('GET', `/api/tasks?projectId=${id}&sort=createdAt`)).data.toSorted(
      (a: ApiResponse['body'], b: ApiResponse['body']) => a.codehostIssueNumber - b.codehostIssueNumber,
    )
  return {
    webhook: webhook as HostWebhook,
    sync: () => send('POST', `/api/codehost/${id}/sync`),
    change: async (number: number, change: object) =>
      send('PATCH', `/api/tasks/${(await tasks())[number - 1].id}`, change),
    comment: async (number: number, body: string): Promise<{ id: string }> =>
      send('POST', `/api/tasks/${(await tasks())[number - 1].id}/comments`, { body, isPublic: true }),
    edit: (id: string, body: string) => send('PATCH', `/api/comments/${id}`, { body }),
    remove: (id: string) => send('DELETE', `/api/comments/${id}`),
    async expectAtRest() {
      expect((await send('GET', `/api/deliveries?projectId=${id}&outcome=pending`)).data).toEqual([])
      for (const { writeBack } of await tasks()) {
        expect(writeBack ?? { state: 'done', error: null }).toEqual({ state: 'done', error: null })
      }
    },
    async seen() {
      const seen = (await tasks()).map(async (task) => {
        const { data } = await send('GET', `/api/tasks/${task.id}/comments`)
        return {
          status: task.status,
          comments: data.map(({ body }: { body: string }) => body.split('\n').at(-1)),
        }
      })
      return Promise.all(seen)
    },
  }
}

test.each(['push', 'poll'])(
  'two services on one repository come to rest, with %s, and write nothing twice',
  async (way) => {
    const repository = host.repository(`acme/${way}`)
    repository.fill(2)
    const [one, other] = await Promise.all(
      ['one', 'other'].map((token) => startInlet(token, repository.name)),
    )
    if (!one || !other) throw new Error('Both are required.')
    const both = [one, other]
    host.onChange(({ delivery }) => {
      if (way === 'push') for (const { webhook } of both) void deliver(webhook, delivery)
    })
    const written = () =>
      host.requests.filter(({ method, url }) => method !== 'GET' && url.includes(`/${repository.id}/`))
    const syncBoth = () => Promise.all(both.map(({ sync }) => sync()))
    /** Both have what the repository has. */
    const agreed = async (expected: { status: string; comments: string[] }[]) => {
      await vi.waitFor(async () => {
        await one.expectAtRest()
        await other.expectAtRest()
      }, POLLING)
      if (way === 'poll') await syncBoth()
      await vi.waitFor(async () => {
        for (const { seen } of both) expect(await seen()).toEqual(expected)
      }, POLLING)
    }
    await syncBoth()

    const comment = await one.comment(1, 'From one')
    const removed = await other.comment(2, 'From the other')
    await one.change(1, { status: 'done' })
    await other.change(2, { status: 'done' })
    await agreed([
      { status: 'done', comments: ['From one'] },
      { status: 'done', comments: ['From the other'] },
    ])
    await other.change(1, { status: 'open' })
    await one.edit(comment.id, 'Edited by one')
    await other.remove(removed.id)
    const atLast = [
      { status: 'open', comments: ['Edited by one'] },
      // A poll does not tell what was deleted.
      { status: 'done', comments: [] },
    ]
    if (way === 'push') await agreed(atLast)
    else await vi.waitFor(() => expect(written()).toHaveLength(7), POLLING)

    for (let round = 0; round < 3; round++) await syncBoth()
    await vi.waitFor(() => Promise.all(both.map(({ expectAtRest }) => expectAtRest())), POLLING)
    expect(
      written()
        .map(({ method, url }) => `${method} ${url.replace(/^\/repositories\/\d+|\d{5,}$/g, '')}`)
        .toSorted(),
    ).toEqual([
      'DELETE /issues/comments/',
      'PATCH /issues/1',
      'PATCH /issues/1',
      'PATCH /issues/2',
      'PATCH /issues/comments/',
      'POST /issues/1/comments',
      'POST /issues/2/comments',
    ])
    expect(repository.comments.size).toBe(1)
    expect([...repository.items.values()].map(({ state }) => state)).toEqual(['open', 'closed'])
  },
)
