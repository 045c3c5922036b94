import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { githubClient } from '../../src/clients/github.ts'
import { describeNetworkError } from '../../src/clients/network-error.ts'

/** As fetch wraps a network error. */
const wrapped = (cause: object) => new TypeError('fetch failed', { cause })
const withCode = (code: string, message = `connect ${code} 10.0.0.1:443`) =>
  Object.assign(new Error(message), { code })

describe('a network error', () => {
  test.each<[string, unknown, RegExp]>([
    ['a refusal', wrapped(withCode('ECONNREFUSED')), /refused the connection/],
    [
      'a refusal at both addresses of a name',
      wrapped(
        Object.assign(new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]), {
          code: 'ECONNREFUSED',
        }),
      ),
      /refused the connection/,
    ],
    [
      'two addresses, explained only by their own errors',
      wrapped(new AggregateError([withCode('ENETUNREACH'), withCode('ECONNREFUSED')])),
      /host is unreachable/,
    ],
    [
      'a name nobody knows',
      wrapped(withCode('ENOTFOUND', 'getaddrinfo ENOTFOUND git.corp')),
      /name was not found/,
    ],
    ['names that cannot be looked up', wrapped(withCode('EAI_AGAIN')), /name was not found/],
    ['silence', wrapped(withCode('UND_ERR_CONNECT_TIMEOUT')), /timed out/],
    ['a reset', wrapped(withCode('ECONNRESET')), /was closed/],
    ['a close', wrapped(withCode('UND_ERR_SOCKET', 'other side closed')), /was closed/],
    ['no route', wrapped(withCode('EHOSTUNREACH')), /host is unreachable/],
    [
      'a certificate nobody vouches for',
      wrapped(withCode('DEPTH_ZERO_SELF_SIGNED_CERT')),
      /certificate is not trusted/,
    ],
    [
      'one of a private authority',
      wrapped(withCode('UNABLE_TO_GET_ISSUER_CERT_LOCALLY')),
      /certificate is not trusted/,
    ],
    [
      'one for another name',
      wrapped(withCode('ERR_TLS_CERT_ALTNAME_INVALID', "IP: 10.0.0.1 is not in the cert's list")),
      /certificate is not trusted/,
    ],
    ['plain text where TLS is meant', wrapped(withCode('ERR_SSL_WRONG_VERSION_NUMBER')), /TLS/],
    ['something unheard of', wrapped(withCode('EWHATEVER')), /connection failed/],
    ['something that is no error', 'connect 10.0.0.1', /connection failed/],
  ])('%s is explained, without addresses and host names', (_, error, words) => {
    expect(describeNetworkError(error)).toMatch(words)
    expect(describeNetworkError(error)).not.toMatch(/10\.0\.0\.1|git\.corp|E[A-Z]{5}/)
  })

  test('is complete in the log', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    await new Promise((done) => server.close(done))
    const reported: unknown[] = []
    const host = githubClient({ onError: (error) => reported.push(error) })
    const access = { apiUrl: `http://127.0.0.1:${port}`, token: 'a-secret' }
    const found = await host.findRepository(access, { nameOrId: 'acme/app' })
    expect(found).toEqual({ outcome: 'unreachable', reason: 'The host refused the connection.' })
    expect(reported).toMatchObject([
      { code: 'ECONNREFUSED', message: expect.stringContaining(`127.0.0.1:${port}`) },
    ])
    expect(JSON.stringify(reported)).not.toContain('a-secret')
  })
})
