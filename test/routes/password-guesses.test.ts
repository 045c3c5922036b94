import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { PASSWORD, person } from '../support/people.ts'
import { signIn as signInWithKey } from '../support/sign-in.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const post = (body: object, app = service) => app.post('/api/sessions', body, { key: null })

describe('guessing passwords', () => {
  test('of one name is limited, whatever the address, and keys are not refused', async () => {
    const app = await startApp({ env: { TRUST_PROXY: 'true', RATE_LIMIT_FAILURES_PER_MINUTE: '20' } })
    const [ada, bob] = [await person(app), await person(app)]
    const from = (n: number, body: object) =>
      app.post('/api/sessions', body, { key: null, headers: { 'x-forwarded-for': `203.0.113.${n}` } })
    const guesses = Array.from({ length: 100 }, (_, n) =>
      from(n, { username: ada.username, password: 'wrong' }),
    )
    const codes = (await Promise.all(guesses)).map(codeOf)
    expect(codes.filter(([status]) => status === 401)).toHaveLength(10)
    expect(codes.filter(([status]) => status === 429)).toHaveLength(90)
    const right = await from(200, { username: ada.username, password: PASSWORD })
    expect(right.status).toBe(429)
    expect(Number(right.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect((await from(200, { username: bob.username, password: PASSWORD })).status).toBe(201)
    expect((await signInWithKey(app, app.adminKey)).response.status).toBe(201)
    await app.close()
  })

  test('does not keep a browser out that signed in with the password before', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const cookieOf = async (username: string) => {
      const response = await post({ username, password: PASSWORD })
      const [, cookie] = response.headers
        .getSetCookie()
        .map((text) => text.split(';')[0] ?? '')
        .sort()
        .reverse()
      return cookie ?? ''
    }
    const [own, another] = [await cookieOf(ada.username), await cookieOf(bob.username)]
    expect(own).toMatch(/^inlet_browser=[\w-]{22}\.[\w-]{43}$/)
    await Promise.all(Array.from({ length: 15 }, () => post({ username: ada.username, password: 'wrong' })))
    const from = (cookie: string, password = PASSWORD) =>
      service.post('/api/sessions', { username: ada.username, password }, { key: null, headers: { cookie } })
    for (const cookie of ['', another, `${own.slice(0, -1)}_`, own.replace('=', '=x')]) {
      expect([cookie, (await from(cookie)).status]).toEqual([cookie, 429])
    }
    expect((await from(own)).status).toBe(201)
    // It guesses no faster than others.
    const guesses = await Promise.all(Array.from({ length: 15 }, () => from(own, 'wrong')))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10)
  })

  test('does not keep a browser out that changed the password', async () => {
    const ada = await person(service)
    const password = 'the new password'
    const changed = await service.put('/api/me/password', { password }, ada.with)
    const [cookie = ''] = changed.headers.getSetCookie()
    expect(cookie).toMatch(/^inlet_browser=.*; Path=\/api\/sessions; HttpOnly; SameSite=Strict$/)
    await Promise.all(Array.from({ length: 15 }, () => post({ username: ada.username, password: 'wrong' })))
    const from = (cookie: string) =>
      service.post('/api/sessions', { username: ada.username, password }, { key: null, headers: { cookie } })
    expect((await from('')).status).toBe(429)
    expect((await from(cookie.split(';')[0] ?? '')).status).toBe(201)
  })

  test('from one address is limited, whatever the name, and right ones do not count', async () => {
    const app = await startApp({ env: { RATE_LIMIT_FAILURES_PER_MINUTE: '20' } })
    const ada = await person(app)
    for (let n = 0; n < 25; n++) {
      expect((await post({ username: ada.username, password: PASSWORD }, app)).status).toBe(201)
    }
    const guesses = Array.from({ length: 100 }, (_, n) =>
      post({ username: `name-${n}`, password: 'wrong' }, app),
    )
    const codes = (await Promise.all(guesses)).map(({ status }) => status)
    expect(codes.filter((status) => status === 401)).toHaveLength(20)
    expect(codes.filter((status) => status === 429)).toHaveLength(80)
    // Its people can still use their keys, and sign in with one.
    expect((await post({ key: app.adminKey }, app)).status).toBe(201)
    await app.close()
  })
})
