import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { sessionsQuery } from '../api/queries.ts'
import { identify } from './identity.ts'

export type Me = Schema<'Me'>
export type Scope = Me['scopes'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client }): Promise<Me | null> => {
    try {
      const me = await dataOf(api.GET('/api/me'))
      return identify(principalOf(me).id) ? await startAnew(client) : me
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

/** Whether it was this caller, in the dashboard: an assistant may use the same key. */
export function isPrincipal(me: Me, { type, id }: { type: string; id: string | null }): boolean {
  const principal = principalOf(me)
  return type === principal.type && id === principal.id
}

/** Loads the page again, without any data of who was signed in before. What waits for it waits until then. */
function startAnew(queryClient: QueryClient): Promise<never> {
  queryClient.clear()
  location.replace('/tasks')
  return new Promise(() => {})
}

/** The caller and its scopes. `admin` implies all others. */
export function useMe() {
  const { data: me = null } = useQuery(meQuery)
  const can = (scope: Scope) => Boolean(me?.scopes.includes('admin') || me?.scopes.includes(scope))
  return { me, can, isServiceWide: me?.projectIds === null }
}

export function useSignOut() {
  const queryClient = useQueryClient()
  return async (extent: 'this-session' | 'all-sessions') => {
    const me = await queryClient.ensureQueryData(meQuery)
    if (extent === 'all-sessions') await endAllSessions(queryClient)
    else if (me) await endSession(me.id)
    sessionStorage.clear()
    queryClient.clear()
    // A full page load drops all state of the previous user.
    location.assign('/sign-in')
  }
}

/** Ends all sessions of the caller, this one last. Administrators also see sessions of others. */
async function endAllSessions(queryClient: QueryClient) {
  const all = await queryClient.fetchQuery({ ...sessionsQuery, staleTime: 0 })
  const current = all.find(({ isCurrent }) => isCurrent)
  const others = all.filter(
    ({ id, keyId, userId }) => keyId === current?.keyId && userId === current?.userId && id !== current?.id,
  )
  for (const { id } of current ? [...others, current] : others) await endSession(id)
}

async function endSession(id: string) {
  try {
    await dataOf(api.DELETE('/api/sessions/{id}', { params: { path: { id } } }))
  } catch (error) {
    // The session has ended already.
    if (problemOf(error).status !== 404) throw error
  }
}
