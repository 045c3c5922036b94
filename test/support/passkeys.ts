import type { ApiResponse, TestApp } from './app.ts'
import { type Authenticator, authenticator, type Deviation } from './authenticator.ts'
import type { SignedIn } from './people.ts'

/** Where the dashboard of the tests is, and passkeys work. */
export const PUBLIC_URL = 'https://inlet.example.com'

/** The cookie of a challenge. */
export const cookieIn = ({ headers }: ApiResponse): string => headers.get('set-cookie')?.split(';')[0] ?? ''

/** Options of a call in a session, with the cookie of a challenge. */
export const withCookie = ({ with: { key, headers } }: Pick<SignedIn, 'with'>, cookie: string) => ({
  key,
  headers: { ...headers, cookie: `${headers.cookie}; ${cookie}` },
})

interface Adding {
  name?: string
  device?: Authenticator
  deviation?: Deviation
}

/** Adds a passkey to somebody's account. */
export async function addPasskey(service: TestApp, somebody: SignedIn, adding: Adding = {}) {
  const { name = 'Laptop', device = authenticator(PUBLIC_URL), deviation } = adding
  const begun = await service.post('/api/me/passkeys/challenge', undefined, somebody.with)
  const credential = device.create(begun.body, deviation)
  const options = withCookie(somebody, cookieIn(begun))
  const response = await service.post('/api/me/passkeys', { name, credential }, options)
  return { response, device, id: response.body.id as string, credential, options }
}

export const beginSignIn = (service: TestApp) =>
  service.post('/api/sessions/passkey-challenge', undefined, { key: null })

interface Signing {
  begun?: ApiResponse
  cookie?: string
  deviation?: Deviation
}

/** Signs in with the passkey of a device. */
export async function signInWithPasskey(service: TestApp, device: Authenticator, signing: Signing = {}) {
  const { begun = await beginSignIn(service), deviation } = signing
  const passkey = device.get(begun.body, deviation)
  return sendPasskey(service, { passkey, cookie: signing.cookie ?? cookieIn(begun) })
}

export const sendPasskey = (service: TestApp, { passkey, cookie }: { passkey: object; cookie: string }) =>
  service.post('/api/sessions', { passkey }, { key: null, headers: { cookie } })
