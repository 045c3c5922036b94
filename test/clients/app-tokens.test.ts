import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { appTokens } from '../../src/clients/app-tokens.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'

let host: CodeHostFake
beforeAll(async () => {
  host = await startCodeHost()
})
afterAll(() => host.close())

const MINUTE_MS = 60_000
const options = { timeoutMs: 5_000, userAgent: 'test', onError: () => {} }
const signal = undefined

/** Credentials of a new App, and how often tokens were requested for it. */
function newApp() {
  const { installation: _, ...app } = host.app()
  const count = () => host.requests.filter(({ url }) => url.includes(`/${app.installationId}/`)).length
  return { app, request: { apiUrl: host.url, app, signal }, count }
}

describe('the tokens of an installation', () => {
  test('are used for 59 minutes, and then renewed before they expire', async () => {
    let now = Date.now()
    const { tokenOf } = appTokens({ ...options, now: () => now })
    const { request, count } = newApp()
    const first = await tokenOf(request)
    expect(first).toMatchObject({ outcome: 'token', isNew: true })
    now += 59 * MINUTE_MS - 1
    expect(await tokenOf(request)).toEqual({ ...first, isNew: false })
    now += 1
    const renewed = await tokenOf(request)
    expect(renewed).toMatchObject({ outcome: 'token', isNew: true })
    expect(renewed).not.toMatchObject({ token: (first as { token: string }).token })
    expect(count()).toBe(2)
  })

  test('are requested once by concurrent callers, also to replace a rejected one', async () => {
    const { tokenOf } = appTokens(options)
    const { request, count } = newApp()
    const [first, second] = await Promise.all([tokenOf(request), tokenOf(request)])
    expect(second).toEqual({ ...first, isNew: false })
    const { token: rejected } = first as { token: string }
    const renewed = await Promise.all([1, 2, 3].map(() => tokenOf({ ...request, rejected })))
    expect(new Set(renewed.map((found) => (found as { token: string }).token)).size).toBe(1)
    expect(count()).toBe(2)
  })

  test('are requested by the next caller if the first one is aborted', async () => {
    const { tokenOf } = appTokens(options)
    const { request, count } = newApp()
    const abort = new AbortController()
    host.fault('hang', { matches: ({ url }) => url.includes('access_tokens') })
    const first = tokenOf({ ...request, signal: abort.signal })
    const second = tokenOf(request)
    await vi.waitFor(() => expect(count()).toBe(1))
    abort.abort(new Error('stopping'))
    await expect(first).rejects.toThrow('stopping')
    expect(await second).toMatchObject({ outcome: 'token' })
  })

  test('fail for all concurrent callers after one timeout if the host does not respond', async () => {
    const { tokenOf } = appTokens({ ...options, timeoutMs: 500 })
    const { request, count } = newApp()
    host.fault('hang', { times: 4, matches: ({ url }) => url.includes('access_tokens') })
    const found = await Promise.all([1, 2, 3, 4].map(() => tokenOf(request)))
    host.heal()
    expect(found.map(({ outcome }) => outcome)).toEqual(Array(4).fill('unreachable'))
    expect(count()).toBe(1)
    expect(await tokenOf(request)).toMatchObject({ outcome: 'token' })
  })
})
