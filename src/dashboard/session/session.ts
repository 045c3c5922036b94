import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { sessionsQuery } from '../api/queries.ts'

export type Me = Schema<'Me'>
export type Scope = Me['scopes'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await dataOf(api.GET('/api/me'))
    } catch (error) {
      if (problemOf(error).status === 401) return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** Who is signed in, and what they may do. `admin` implies the rest. */
export function useMe() {
  const { data: me = null } = useQuery(meQuery)
  const can = (scope: Scope) => Boolean(me?.scopes.includes('admin') || me?.scopes.includes(scope))
  return { me, can, isServiceWide: me?.projectId === null }
}

export function useSignOut() {
  const cache = useQueryClient()
  return async (where: 'here' | 'everywhere') => {
    const me = await cache.ensureQueryData(meQuery)
    if (where === 'everywhere') await endEverySession(cache)
    else if (me) await end(me.id)
    sessionStorage.clear()
    cache.clear()
    // A page loaded anew holds nothing of whoever was here.
    location.assign('/sign-in')
  }
}

/** All sessions of the key of whoever is signed in, this one last; an administrator sees those of others as well. */
async function endEverySession(cache: QueryClient) {
  const all = await cache.fetchQuery({ ...sessionsQuery, staleTime: 0 })
  const current = all.find(({ isCurrent }) => isCurrent)
  const others = all.filter(({ id, keyId }) => keyId === current?.keyId && id !== current?.id)
  for (const { id } of current ? [...others, current] : others) await end(id)
}

async function end(id: string) {
  try {
    await dataOf(api.DELETE('/api/sessions/{id}', { params: { path: { id } } }))
  } catch (error) {
    // Over already: that is what was wanted.
    if (problemOf(error).status !== 404) throw error
  }
}
