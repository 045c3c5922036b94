import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Redirect } from 'wouter'
import { useHasBeenTrue } from '../components/use-open-state.ts'
import { useNavigation } from '../navigation/location-provider.tsx'
import { formatSearch } from '../navigation/search-params.ts'
import { meQuery } from './session.ts'

/** Redirects to the sign-in page. A session that ends later keeps its page, under a sign-in dialog. */
export function RequireSession({ children }: { children: ReactNode }) {
  const { data: me, isPending, error } = useQuery(meQuery)
  const hasSession = useHasBeenTrue(Boolean(me))
  const { pathname, search, hash } = useNavigation().url
  if (hasSession) return children
  if (isPending) return null
  if (error) throw error
  return <Redirect to={`/sign-in${formatSearch({ next: pathname + search + hash })}`} replace />
}
