import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from './client.ts'
import { fetchAllPages, pageQuery } from './queries.ts'

/** People with their roles, for those who manage them. */
export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/users', pageQuery(cursor)))),
})

/** Those whose projects one shares, and oneself. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/people', pageQuery(cursor)))),
})

/** Whether there is an active owner. */
export const firstOwnerQuery = queryOptions({
  queryKey: ['users', 'owner'],
  queryFn: async () => {
    const query = { role: 'owner', isActive: true, limit: 1 } as const
    return (await dataOf(api.GET('/api/users', { params: { query } }))).data.length > 0
  },
})

/** Those that can still be accepted. */
export const invitesQuery = queryOptions({
  queryKey: ['invites'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/invites', pageQuery(cursor)))),
})

/** Those of who is signed in. */
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/me/passkeys', pageQuery(cursor)))),
})

/** The ways to sign in, which only a restart of the service changes. */
export const signInWaysQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: () => dataOf(api.GET('/api/sign-in')),
  staleTime: Number.POSITIVE_INFINITY,
  retry: 1,
})

/** The personal keys of who is signed in. */
export const personalKeysQuery = queryOptions({
  queryKey: ['keys', 'personal'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/me/keys', pageQuery(cursor)))),
})

/** Offered when the service does not say which are on: it still says so of each attempt. */
export const DEFAULT_WAYS: Schema<'SignInWays'> = {
  password: true,
  passkeys: false,
  keys: 'all',
  providers: [],
  hasPeople: true,
}
