import { randomUUID } from 'node:crypto'
import { startApp, type TestApp, type TestAppOptions } from './app.ts'
import { browserOf, PUBLIC_URL } from './identity-browser.ts'
import { CLIENT } from './oidc-provider.ts'

/** The service under a public URL, which providers return to. */
export const startWithPublicUrl = (options: TestAppOptions = {}) =>
  startApp({ ...options, env: { PUBLIC_URL, ENCRYPTION_KEY: 'ab'.repeat(32), ...options.env } })

/** Adds a provider. */
export async function addProvider(
  service: TestApp,
  body: object,
): Promise<{ id: string; redirectUrl: string }> {
  const response = await service.post('/api/identity-providers', { name: 'Acme', ...CLIENT, ...body })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body
}

/** Lets in everybody of a domain. */
export const ALLOWED = {
  createUsers: 'allowed',
  allowedDomains: ['acme.com'],
  newUsers: { role: 'member', projectIds: null },
}

/** An account whose address lets it in. */
export const account = (claims: object = {}) => {
  const sub = randomUUID()
  return { sub, email: `${sub.slice(0, 8)}@acme.com`, email_verified: true, ...claims }
}

/** Signs in at a provider in a new browser. */
export async function signInAt(service: TestApp, id: string, { query = '' } = {}) {
  const browser = browserOf(service)
  const arrival = await browser.open(`/auth/${id}${query}`)
  return { browser, arrival, me: (await browser.call('GET', '/api/me')).body }
}
