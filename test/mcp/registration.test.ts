import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const info = { name: 'test', version: '1.0.0' }
const redirect = 'http://localhost:1/callback'

/** A client that has not registered yet. */
const unregistered = {
  redirectUrl: redirect,
  clientMetadata: { client_name: 'test', redirect_uris: [redirect] },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => '',
} satisfies OAuthClientProvider

const CLIENTS = {
  v1: (url: URL, options: { authProvider: typeof unregistered; requestInit: RequestInit }) =>
    new OldClient(info).connect(new OldTransport(url, options) as Parameters<OldClient['connect']>[0]),
  v2: (url: URL, options: { authProvider: typeof unregistered; requestInit: RequestInit }) =>
    new NewClient(info).connect(new NewTransport(url, options)),
}

test.each(Object.entries(CLIENTS))(
  'the %s client, which tries OAuth after a wrong key, tells its user about X-API-Key',
  async (_, connect) => {
    const requestInit = { headers: { 'x-api-key': 'inl_wrong' } }
    await expect(
      connect(new URL('/mcp', service.url), { authProvider: unregistered, requestInit }),
    ).rejects.toThrow('Send a valid API key in the X-API-Key header')
  },
)

test('a client without OAuth tells its user, too', async () => {
  const requestInit = { headers: { 'x-api-key': 'inl_wrong' } }
  const connecting = new NewClient(info).connect(
    new NewTransport(new URL('/mcp', service.url), { requestInit }),
  )
  await expect(connecting).rejects.toThrow('Send a valid one in the X-API-Key header')
})

test('a registration is refused whatever its body', async () => {
  for (const body of ['{"broken', '', JSON.stringify({ redirect_uris: [redirect] })]) {
    const response = await fetch(`${service.url}/register`, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
  }
})
