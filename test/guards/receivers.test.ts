import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { invalidSender } from '../../src/errors/index.ts'
import { requireWebhookSecret } from '../../src/guards/bearer-secret.ts'
import { codehostSender } from '../../src/guards/codehost-signature.ts'
import { type Sender, senderGuards } from '../../src/guards/delivery-sender.ts'
import { failureLimit } from '../../src/services/failure-limit.ts'
import type { PushTarget } from '../../src/services/push/index.ts'

const reply = { elapsedTime: 0 } as FastifyReply
/** Cast: the guards read nothing else of a request. */
const requestWith = (given: object) =>
  ({ headers: {}, params: {}, bodyError: null, ip: '192.0.2.1', ...given }) as unknown as FastifyRequest
const shared = { failures: failureLimit(0), buffer: <T>(_: number, work: () => Promise<T>) => work() }

describe('a webhook secret', () => {
  const guardWith = (webhookSecret: string | undefined) =>
    requireWebhookSecret({
      access: { isWebhookSecret: async (given) => given === 'stored' },
      webhookSecret,
      ...shared,
    })
  const send = (authorization: string | undefined, webhookSecret?: string) =>
    guardWith(webhookSecret)(requestWith({ headers: { authorization } }), reply)

  test.each(['Bearer stored', 'bearer stored', 'BEARER  stored '])(
    'is accepted: %s',
    async (authorization) => {
      await send(authorization)
    },
  )

  test('may be that of the environment', async () => {
    await send('Bearer given', 'given')
    await send('Bearer stored', 'given')
    await expect(send('Bearer given')).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(send('Bearer given2', 'given')).rejects.toMatchObject({ code: 'invalid_credentials' })
  })

  test.each(['Bearer other', 'Bearer undefined'])('is no other: %s', async (authorization) => {
    await expect(send(authorization)).rejects.toMatchObject({ code: 'invalid_credentials' })
  })

  test.each([undefined, '', 'Bearer', 'Basic stored', 'stored', 'Bearer a b'])(
    'is required: %s',
    async (authorization) => {
      await expect(send(authorization)).rejects.toMatchObject({ code: 'missing_credentials' })
    },
  )
})

describe('a delivery of the code host', () => {
  const SIGNATURE = `sha256=${'0a'.repeat(32)}`
  const find = (signature: string | undefined, isKnown = true) =>
    codehostSender({
      findTarget: async () => (isKnown ? ({ secrets: {} } as PushTarget) : undefined),
      isSigned: async (_, { body, signature }) => body.toString() === 'signed' && signature === SIGNATURE,
    })(requestWith({ headers: { 'x-hub-signature-256': signature }, params: { connectionId: 'x' } }))

  test('is verified with its body and its signature', async () => {
    const { isSigned } = await find(SIGNATURE)
    expect(await isSigned?.(Buffer.from('signed'))).toBe(true)
    expect(await isSigned?.(Buffer.from('other'))).toBe(false)
  })

  test.each([
    [undefined, 'missing_credentials'],
    ['', 'missing_credentials'],
    ['0a'.repeat(32), 'invalid_credentials'],
    [`sha1=${'0a'.repeat(32)}`, 'invalid_credentials'],
    [`${SIGNATURE}0a`, 'invalid_credentials'],
    [`x${SIGNATURE}`, 'invalid_credentials'],
    [SIGNATURE.toUpperCase(), 'invalid_credentials'],
  ])('is refused before its body with the signature %s', async (signature, code) => {
    await expect(find(signature)).rejects.toMatchObject({ code })
  })

  test('is refused for a connection that is not known', async () => {
    await expect(find(SIGNATURE, false)).rejects.toMatchObject({ code: 'invalid_credentials' })
  })
})

describe('a sender', () => {
  const guardsOf = (sender: Sender<string>) =>
    senderGuards({ findSender: async () => sender, refusal: invalidSender, ...shared })
  const REFUSED = { code: 'invalid_credentials' }

  test('is verified by its body, as it was received', async () => {
    const guards = guardsOf({ target: 'a source', isSigned: (body) => body.toString() === 'signed' })
    for (const [body, isAccepted] of [
      ['signed', true],
      ['other', false],
      [undefined, false],
    ] as const) {
      const request = requestWith({ body: body && Buffer.from(body) })
      await guards.requireSender(request, reply)
      expect(guards.isUnverified(request)).toBe(true)
      const verified = guards.verifyBody(request)
      await (isAccepted ? verified : expect(verified).rejects.toMatchObject(REFUSED))
    }
  })

  test('that its headers have proven needs no signature of the body', async () => {
    const guards = guardsOf({ target: 'a source' })
    const request = requestWith({})
    await guards.requireSender(request, reply)
    await guards.verifyBody(request)
    expect(guards.isUnverified(request)).toBe(false)
    expect(guards.targetOf(request)).toBe('a source')
  })

  test('counts as verified once its body is', async () => {
    const guards = guardsOf({ target: 'a source', isSigned: (body) => body.toString() === 'signed' })
    for (const [body, isVerified] of [
      ['signed', true],
      ['other', false],
    ] as const) {
      const request = requestWith({ body: Buffer.from(body) })
      await guards.requireSender(request, reply)
      expect(guards.isVerified(request)).toBe(false)
      await guards.verifyBody(request).catch(() => undefined)
      expect(guards.isVerified(request)).toBe(isVerified)
    }
  })

  test('that was not looked for has no target, and cannot be verified', async () => {
    const guards = guardsOf({ target: 'a source' })
    await expect(guards.verifyBody(requestWith({}))).rejects.toMatchObject(REFUSED)
    expect(() => guards.targetOf(requestWith({}))).toThrow(expect.objectContaining(REFUSED))
  })

  test('whose body could not be read is told that', async () => {
    const guards = guardsOf({ target: 'a source', isSigned: () => false })
    const bodyError = new Error('too large')
    const request = requestWith({ bodyError })
    await guards.requireSender(request, reply)
    await expect(guards.verifyBody(request)).rejects.toBe(bodyError)
  })
})

describe('wrong credentials of an address are limited', () => {
  const expectLimited = async (attempt: () => Promise<unknown>) => {
    await expect(attempt()).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' })
  }

  test('as webhook secrets', async () => {
    const access = { isWebhookSecret: async () => false }
    const guard = requireWebhookSecret({
      access,
      webhookSecret: undefined,
      ...shared,
      failures: failureLimit(1),
    })
    await expectLimited(() => guard(requestWith({ headers: { authorization: 'Bearer wrong' } }), reply))
  })

  test('in the headers of a sender', async () => {
    const findSender = () => Promise.reject(invalidSender())
    const guards = senderGuards({ findSender, refusal: invalidSender, ...shared, failures: failureLimit(1) })
    await expectLimited(() => guards.requireSender(requestWith({}), reply))
  })

  test('in the body of a sender', async () => {
    const findSender = async () => ({ target: 'a source', isSigned: () => false })
    const guards = senderGuards({ findSender, refusal: invalidSender, ...shared, failures: failureLimit(1) })
    await expectLimited(async () => {
      const request = requestWith({ body: Buffer.from('other') })
      await guards.requireSender(request, reply)
      await guards.verifyBody(request)
    })
  })
})
