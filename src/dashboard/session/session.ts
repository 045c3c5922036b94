import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { identify } from './identity.ts'

export type Me = Schema<'Me'>
export type Scope = Me['scopes'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client }): Promise<Me | null> => {
    try {
      const me = await dataOf(api.GET('/api/me'))
      if (identify(principalOf(me).id)) return await startAnew(client)
      const before = client.getQueryData<Me>(['me'])
      if (before && accessOf(before) !== accessOf(me)) dropData(client)
      return me
    } catch (error) {
      if (problemOf(error).status === 401) return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** Who acts: the person or the key, as the activity log and comments name them. */
export const principalOf = ({ user, keyId, id }: Me) =>
  user ? { type: 'user' as const, id: user.id } : { type: 'session' as const, id: keyId ?? id }

/** Why a session of a key can't be assigned. */
export const NO_PERSON = 'You are signed in with an API key. Only people can be assigned.'

/** Whether it was this caller, in the dashboard: an assistant may use the same key. */
export function isPrincipal(me: Me, { type, id }: { type: string; id: string | null }): boolean {
  const principal = principalOf(me)
  return type === principal.type && id === principal.id
}

/** What the role and the projects of a person, or the key, allow. */
const accessOf = ({ scopes, projectIds }: Me) => JSON.stringify([scopes, projectIds])

/** Loads what is shown again: it may be out of reach now. */
function dropData(queryClient: QueryClient) {
  void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' })
}

/** Loads the page again, without any data of who was signed in before. What waits for it waits until then. */
function startAnew(queryClient: QueryClient): Promise<never> {
  queryClient.clear()
  location.replace('/')
  return new Promise(() => {})
}

/** The caller and its scopes. `admin` implies all others. */
export function useMe() {
  const { data: me = null } = useQuery(meQuery)
  const can = (scope: Scope) => Boolean(me?.scopes.includes('admin') || me?.scopes.includes(scope))
  const isServiceWide = me?.projectIds === null
  // Only a session of a key that does not expire manages people.
  const canCreateOwner = Boolean(me?.keyId && me.expiresAt === null && can('admin') && isServiceWide)
  return { me, can, isServiceWide, canCreateOwner }
}
