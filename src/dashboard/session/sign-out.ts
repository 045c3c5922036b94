import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { sessionsQuery } from '../api/queries.ts'
import { meQuery } from './session.ts'

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
