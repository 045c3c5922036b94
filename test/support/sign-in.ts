import type { TestApp } from './app.ts'

/** Signs in with a key, as the dashboard does. `with` makes a call with the session. */
export async function signIn(service: TestApp, key: string, headers: Record<string, string> = {}) {
  const response = await service.post('/api/sessions', { key }, { key: null, headers })
  const setCookie = response.headers.get('set-cookie') ?? ''
  const cookie = setCookie.split(';')[0] ?? ''
  return { response, setCookie, cookie, with: { key: null, headers: { cookie, origin: service.url } } }
}
