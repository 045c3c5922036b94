import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { invalidate } from '../api/invalidate.ts'
import { isUnreachable, problemOf } from '../api/problem.ts'
import { preloadModule } from './lazy.tsx'
import { toast } from './toast.ts'

const loadRetry = preloadModule(() => import('./offer-retry.tsx'))

/**
 * Runs a mutation, then invalidates the queries; an error becomes a toast with this title. One that did not reach the
 * service waits for Retry, and continues then. `refresh` only invalidates.
 */
export function useMutation(...queryKeys: string[]) {
  const queryClient = useQueryClient()
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const refresh = () => Promise.all(queryKeys.map((key) => invalidate(queryClient, { queryKey: [key] })))
  async function mutate<T>(title: string, mutation: () => Promise<T>): Promise<T | undefined> {
    const toastId = `${id}-${title}`
    const retry = async () => {
      const { offerRetry } = await loadRetry()
      return (await offerRetry({ id: toastId, title, text: 'Your change was not saved.' }))
        ? mutate(title, mutation)
        : undefined
    }
    toast.hide(toastId)
    setBusy(true)
    try {
      return await mutation()
    } catch (error) {
      const problem = problemOf(error)
      // Not awaited: nothing is busy while somebody decides.
      if (isUnreachable(problem)) return retry()
      toast.problem(title, problem)
      return undefined
    } finally {
      await refresh()
      setBusy(false)
    }
  }
  return { mutate, refresh, isBusy }
}
