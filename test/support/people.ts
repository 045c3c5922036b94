import type { ApiResponse, TestApp } from './app.ts'

export const PASSWORD = 'correct horse battery staple'

/** A person who is signed in. */
export interface SignedIn {
  id: string
  username: string
  name: string
  response: ApiResponse
  sessionId: string
  /** Options of a call in the session. */
  with: SessionOptions
  /** The same for another instance. */
  at(app: Pick<TestApp, 'url'>): SessionOptions
}

interface SessionOptions {
  key: null
  headers: { cookie: string; origin: string }
}

interface Given {
  role?: 'owner' | 'member' | 'viewer'
  projectIds?: string[]
  username?: string
  name?: string
  password?: string
}

let count = 0
const nextUsername = () => `person-${process.pid}-${count++}`

/** Invites a person, who accepts. */
export async function person(service: TestApp, given: Given = {}): Promise<SignedIn> {
  const { role = 'member', projectIds, username = nextUsername(), password = PASSWORD } = given
  const name = given.name ?? `The ${role}`
  const invite = await service.post('/api/invites', { name, role, ...(projectIds && { projectIds }) })
  const { secret } = invite.body
  const response = await accept(service, { secret, username, password })
  if (response.status !== 201) throw new Error(JSON.stringify([invite.body, response.body]))
  return signedIn(service, { response, username })
}

export const accept = (service: TestApp, body: object) =>
  service.post('/api/invites/accept', body, { key: null })

export const signInAs = async (service: TestApp, username: string, password = PASSWORD): Promise<SignedIn> =>
  signedIn(service, {
    response: await service.post('/api/sessions', { username, password }, { key: null }),
    username,
  })

export function signedIn(
  service: Pick<TestApp, 'url'>,
  { response, username }: { response: ApiResponse; username: string },
): SignedIn {
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  const at = ({ url: origin }: Pick<TestApp, 'url'>) => ({ key: null, headers: { cookie, origin } })
  return {
    id: response.body.userId,
    username,
    name: response.body.name,
    response,
    sessionId: response.body.id,
    with: at(service),
    at,
  }
}
