import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from './client.ts'

export type IdentityProvider = Schema<'IdentityProvider'>

export const identityProvidersQuery = queryOptions({
  queryKey: ['identity-providers'],
  queryFn: async () => (await dataOf(api.GET('/api/identity-providers'))).data,
})

/** Tests a provider. Each test is a new one. */
export const identityProviderTestQuery = (id: string) =>
  queryOptions({
    queryKey: ['identity-provider-test', id],
    queryFn: () => dataOf(api.POST('/api/identity-providers/{id}/test', { params: { path: { id } } })),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Those that the person has linked. */
export const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: async () => (await dataOf(api.GET('/api/me/identities'))).data,
})
