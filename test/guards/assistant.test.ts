import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { refuseForeignOrigins, requireAssistant } from '../../src/guards/assistant.ts'
import type { AccessService } from '../../src/services/access.ts'
import { failureLimit } from '../../src/services/failure-limit.ts'

/** Cast: the guards read nothing else of a request. */
const requestWith = (headers: Record<string, string>) =>
  ({ headers, ip: '192.0.2.1' }) as unknown as FastifyRequest
const REFUSED = { code: 'origin_not_allowed' }

describe('a page that calls the AI tools', () => {
  const guard = refuseForeignOrigins({ host: '127.0.0.1', publicUrl: undefined })
  const own = { host: 'localhost:3000' }

  test('is of this machine, and a program is no page', async () => {
    await guard(requestWith(own))
    await guard(requestWith({ ...own, origin: 'http://localhost:6274' }))
    await expect(guard(requestWith({ ...own, origin: 'https://evil.example' }))).rejects.toMatchObject(
      REFUSED,
    )
    await expect(guard(requestWith({ ...own, origin: '' }))).rejects.toMatchObject(REFUSED)
  })
})

describe('the host that AI tools are called at', () => {
  test.each(['127.0.0.1', '::1', 'localhost'])(
    'is known while only this machine is listened at: %s',
    async (host) => {
      const guard = refuseForeignOrigins({ host, publicUrl: undefined })
      await guard(requestWith({ host: '127.0.0.1:3000' }))
      await expect(guard(requestWith({ host: 'evil.example' }))).rejects.toMatchObject(REFUSED)
      await expect(guard(requestWith({}))).rejects.toMatchObject(REFUSED)
    },
  )

  test('is known with a public URL, and not otherwise', async () => {
    const publicGuard = refuseForeignOrigins({ host: '0.0.0.0', publicUrl: 'https://inlet.example' })
    await publicGuard(requestWith({ host: 'inlet.example' }))
    await expect(publicGuard(requestWith({ host: 'inlet.lan' }))).rejects.toMatchObject(REFUSED)
    await refuseForeignOrigins({ host: '0.0.0.0', publicUrl: undefined })(requestWith({ host: 'inlet.lan' }))
  })
})

test('an assistant sends its key in either header', async () => {
  const access = { callerByKey: async (name: string) => ({ name }) } as Pick<AccessService, 'callerByKey'>
  const guard = requireAssistant({ access, failures: failureLimit(0) })
  for (const headers of [
    { 'x-api-key': 'a' },
    { authorization: 'bearer a ' },
    { 'x-api-key': 'a', authorization: 'Bearer b' },
  ]) {
    const request = requestWith(headers as Record<string, string>)
    await guard(request)
    expect(request.caller).toMatchObject({ name: 'a', channel: 'assistant' })
  }
  for (const headers of [{}, { authorization: 'Basic a' }, { authorization: 'a' }])
    await expect(guard(requestWith(headers as Record<string, string>))).rejects.toMatchObject({
      code: 'missing_credentials',
    })
})
