import { createPrivateKey, type KeyObject } from 'node:crypto'
import { validationFailed } from '../../errors/index.ts'

/** A GitHub App and one of its installations. */
interface App {
  appId: number
  installationId: number
  privateKey: string
}

/** What is sent or stored to read a repository with: one of them, or neither. */
interface Credentials {
  token?: string | null | undefined
  app?: object | null | undefined
}

/**
 * The token or the GitHub App of a request; undefined if it has neither.
 * @throws validation_failed
 */
export function givenCredentials({
  token,
  app,
}: {
  token?: string | null | undefined
  app?: App | null | undefined
}): { token: string } | { token: null; app: App } | undefined {
  if (token && app) throw validationFailed([conflict('token', 'app'), conflict('app', 'token')])
  if (token) return { token }
  if (!app) return undefined
  const privateKey = privateKeyOf(app.privateKey)
  if (privateKey === undefined) {
    throw validationFailed([
      {
        path: '/app/privateKey',
        code: 'wrong_format',
        message:
          'must be a private key of the GitHub App: the whole .pem file, from -----BEGIN RSA PRIVATE KEY----- to -----END RSA PRIVATE KEY-----',
      },
    ])
  }
  return { token: null, app: { ...app, privateKey } }
}

const conflict = (name: string, other: string) => ({
  path: `/${name}`,
  code: 'not_allowed',
  message: `cannot be sent together with ${other}: send one of them`,
})

/** What a request does to the stored credentials. Null removes its kind, and keeps the other one. */
export function credentialChange(
  { token, app }: Credentials,
  stored: Credentials | undefined,
): 'keep' | 'replace' | 'remove' {
  if (token || app) return 'replace'
  const isRemoved = (token === null && stored?.token) || (app === null && stored?.app)
  return isRemoved ? 'remove' : 'keep'
}

/**
 * Whether a caller bound to a project would read a repository with credentials it does not know: stored ones, or the
 * operator's for connections without any. Only a connection of an unbound administrator may stay.
 * @param same the stored connection, if it is of the same repository.
 */
export function bringsNoCredentials(
  caller: { projectIds: readonly string[] | null },
  { given, same }: { given: Credentials; same: Credentials | undefined },
): boolean {
  if (caller.projectIds === null) return false
  const change = credentialChange(given, same)
  // Removing the stored ones would use the operator's token instead.
  return change === 'remove' || (change === 'keep' && same === undefined)
}

/**
 * The key as PKCS#8, the form that Web Crypto can import; GitHub's files are PKCS#1. Line breaks may be escaped as
 * `\n`. Undefined if it is not an unencrypted RSA key.
 */
function privateKeyOf(text: string): string | undefined {
  let key: KeyObject
  try {
    key = createPrivateKey(text.replaceAll('\\r', '').replaceAll('\\n', '\n').trim())
  } catch {
    return undefined
  }
  if (key.asymmetricKeyType !== 'rsa') return undefined
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
