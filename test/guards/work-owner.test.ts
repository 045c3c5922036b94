import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { workFor, workForCaller } from '../../src/guards/work-owner.ts'
import { type WorkOwner, workOwner } from '../../src/lib/work-owner.ts'

function ownerOf(raw: object): WorkOwner | undefined {
  let owner: WorkOwner | undefined
  const request = { caller: { id: 'a session', principal: { id: 'its key' } } } as unknown as FastifyRequest
  workForCaller(request, { raw } as unknown as FastifyReply, () => {
    owner = workOwner()
  })
  return owner
}

test('the work of a request counts for the key, also if it was sent with a session', () => {
  expect(ownerOf({})).toMatchObject({ kind: 'caller', name: 'its key' })
})

test.each([
  [{ destroyed: false, writableFinished: false }, false],
  [{ destroyed: true, writableFinished: true }, false],
  [{ destroyed: true, writableFinished: false }, true],
])('nobody waits for it once the connection is closed without a response: %j', (raw, isGone) => {
  expect(ownerOf(raw)?.isGone?.()).toBe(isGone)
})

test('requests without a caller have a share together', () => {
  let owner: WorkOwner | undefined
  workFor('receivers')({} as FastifyRequest, {} as FastifyReply, () => {
    owner = workOwner()
  })
  expect(owner).toEqual({ kind: 'receivers', name: 'receivers' })
})
