import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from './client.ts'

export type IdentityProvider = Schema<'IdentityProvider'>

export const identityProvidersQuery = queryOptions({
  queryKey: ['identity-providers'],
  queryFn: async () => (await dataOf(api.GET('/api/identity-providers'))).data,
})

/** Those that the person has linked. */
export const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: async () => (await dataOf(api.GET('/api/me/identities'))).data,
})
