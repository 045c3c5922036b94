import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

type Claims = Record<string, unknown>

interface SigningKey {
  kid: string
  privateKey: KeyObject
  publicKey: KeyObject
}

/** How the provider misbehaves; by default, it does not. */
export interface Behaviour {
  /** Changes the claims of ID tokens; undefined removes one. */
  claims: Claims
  /** Changes the header of ID tokens. */
  header: Claims
  /** The `iss` of the response to the browser; null for none. */
  issuerInResponse: string | null
  /** Changes the configuration. */
  configuration: Claims
  /** Delays the configuration. */
  delayMs: number
  /** Responds to everything with an error. */
  isDown: boolean
  /** Changes the response of the token endpoint. */
  tokens: Claims
  /** Adds bytes to the configuration. */
  padding: number
}

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>

/** A provider that says whatever a test needs, also what no real one would. */
export async function startHostileProvider() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let behaviour: Behaviour = { ...GOOD, issuerInResponse: issuer }
  let key = newKey()
  const counts = { configuration: 0, keys: 0, tokens: 0 }
  /** By code. */
  const nonces = new Map<string, string>()

  server.on('request', async (request, response) => {
    const url = new URL(request.url ?? '/', issuer)
    const send = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (behaviour.isDown) return send({ error: 'server_error' }, 500)
    if (url.pathname.endsWith('/openid-configuration')) {
      counts.configuration++
      await sleep(behaviour.delayMs)
      const padding = 'x'.repeat(behaviour.padding)
      return send({ ...configurationOf(issuer), padding, ...behaviour.configuration })
    }
    if (url.pathname === '/keys') {
      counts.keys++
      const jwk = key.publicKey.export({ format: 'jwk' })
      return send({ keys: [{ ...jwk, kid: key.kid, use: 'sig', alg: 'RS256' }] })
    }
    if (url.pathname === '/authorize') {
      const code = `code-${nonces.size}`
      nonces.set(code, url.searchParams.get('nonce') ?? '')
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      if (behaviour.issuerInResponse) back.searchParams.set('iss', behaviour.issuerInResponse)
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/token') {
      counts.tokens++
      const code = new URLSearchParams(await bodyOf(request)).get('code') ?? ''
      const nonce = nonces.get(code)
      if (nonce === undefined || !nonces.delete(code)) return send({ error: 'invalid_grant' }, 400)
      const token = signed(key, { issuer, nonce, behaviour })
      return send({ access_token: 'a', token_type: 'bearer', id_token: token, ...behaviour.tokens })
    }
    return send({ error: 'not_found' }, 404)
  })

  return {
    issuer,
    counts,
    behave: (change: Partial<Behaviour>) => {
      behaviour = { ...GOOD, issuerInResponse: issuer, ...change }
    },
    changeKeys: () => {
      key = newKey()
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

const GOOD: Behaviour = {
  claims: {},
  header: {},
  issuerInResponse: null,
  configuration: {},
  delayMs: 0,
  isDown: false,
  tokens: {},
  padding: 0,
}

const configurationOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256', 'none'],
  authorization_response_iss_parameter_supported: true,
})

let keys = 0
function newKey(): SigningKey {
  return { kid: `key-${keys++}`, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }
}

interface Signing {
  issuer: string
  nonce: string
  behaviour: Behaviour
}

function signed({ kid, privateKey }: SigningKey, { issuer, nonce, behaviour }: Signing): string {
  const now = Math.floor(Date.now() / 1_000)
  const header = { alg: 'RS256', kid, ...behaviour.header }
  const good = { iss: issuer, sub: 'ada', aud: 'inlet', nonce, iat: now, exp: now + 300 }
  const text = [header, { ...good, ...behaviour.claims }].map(encoded).join('.')
  if (header.alg === 'none') return `${text}.`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
