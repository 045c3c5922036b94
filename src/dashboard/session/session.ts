import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'

export type Me = Schema<'Me'>
export type Scope = Me['scopes'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await answerOf(api.GET('/api/me'))
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
    const { me } = { me: await cache.ensureQueryData(meQuery) }
    if (where === 'everywhere') await endEverySession()
    else if (me) await answerOf(api.DELETE('/api/sessions/{id}', { params: { path: { id: me.id } } }))
    sessionStorage.clear()
    cache.clear()
    // A page loaded anew holds nothing of whoever was here.
    location.assign('/sign-in')
  }
}

/** All sessions of whoever is signed in: with `admin` those of everybody. */
async function endEverySession() {
  const { data } = await answerOf(api.GET('/api/sessions', { params: { query: { limit: 200 } } }))
  const others = data.filter(({ isCurrent }) => !isCurrent)
  const own = data.filter(({ isCurrent }) => isCurrent)
  for (const { id } of [...others, ...own].filter(({ keyId }) => keyId === own[0]?.keyId)) {
    await answerOf(api.DELETE('/api/sessions/{id}', { params: { path: { id } } }))
  }
}
