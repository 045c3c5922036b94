import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { startOidcProvider } from '../../support/oidc-provider.ts'
import { ALLOWED, account, addProvider, signInAt, startWithPublicUrl } from '../../support/providers.ts'
import { pipeOf, pipesOf, typesOf } from '../../support/status.ts'

let service: TestApp
beforeAll(async () => {
  const env = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'inlet', OIDC_CLIENT_SECRET: 'secret' }
  service = await startWithPublicUrl({ env })
})
afterAll(() => service.close())

test('an identity provider fails while it is down, or refuses the client, until somebody has signed in', async () => {
  const provider = await startOidcProvider()
  const { id, redirectUrl } = await addProvider(service, { issuer: provider.issuer, ...ALLOWED })
  const name = { kind: 'identity_provider', id } as const
  const state = async () => (await pipeOf(service, name)).state
  expect(await pipeOf(service, name)).toMatchObject({ state: 'off', name: 'Acme', projectId: null })

  expect((await signInAt(service, id)).arrival.at).toContain('provider_unreachable')
  expect(await pipeOf(service, name)).toMatchObject({
    state: 'failing',
    lastError: { code: 'provider_unreachable', detail: expect.any(String) },
  })
  await provider.register(redirectUrl)
  provider.signIn(account())
  await signInAt(service, id)
  expect(await state()).toBe('ok')

  await service.patch(`/api/identity-providers/${id}`, { clientSecret: 'another' })
  expect((await signInAt(service, id)).arrival.at).toContain('provider_rejected')
  expect(await pipeOf(service, name)).toMatchObject({
    state: 'failing',
    lastError: { code: 'provider_rejected' },
  })
  await service.patch(`/api/identity-providers/${id}`, { clientSecret: 'a-secret-of-the-client' })
  await service.post(`/api/identity-providers/${id}/test`)
  expect(await state()).toBe('ok')
  // The second pair comes at the earliest five minutes after the first one.
  expect(await typesOf(service, name)).toEqual(['pipe.failed', 'pipe.recovered'])

  provider.signIn(account({ email: 'x@other.example' }))
  await signInAt(service, id)
  expect(await state()).toBe('ok')

  await service.delete(`/api/identity-providers/${id}?confirm=true`)
  await provider.close()
})

test('the provider of the environment is one, until another one has its issuer', async () => {
  const name = { kind: 'identity_provider', id: 'env' } as const
  expect(await pipeOf(service, name)).toMatchObject({ state: 'off', name: '127.0.0.1' })
  await signInAt(service, 'env')
  expect(await pipeOf(service, name)).toMatchObject({ state: 'failing' })
  expect(await typesOf(service, name)).toEqual(['pipe.failed'])
  // The environment was changed since it was added.
  const { id } = await addProvider(service, { issuer: 'http://127.0.0.1:10', ...ALLOWED })
  await service.query('update identity_providers set issuer = $1 where id = $2', ['http://127.0.0.1:9/', id])
  const ids = (await pipesOf(service)).map((pipe) => pipe.id)
  expect([ids.includes('env'), ids.includes(id)]).toEqual([false, true])
})
