import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invalidate } from '../api/invalidate.ts'
import { problemOf } from '../api/problem.ts'
import { toast } from './toast.ts'

/**
 * Runs a mutation, then invalidates the queries; an error becomes a toast with this title. `refresh` only
 * invalidates.
 */
export function useMutation(...queryKeys: string[]) {
  const queryClient = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const refresh = () => Promise.all(queryKeys.map((key) => invalidate(queryClient, { queryKey: [key] })))
  async function mutate<T>(title: string, mutation: () => Promise<T>): Promise<T | undefined> {
    setBusy(true)
    try {
      return await mutation()
    } catch (error) {
      toast.problem(title, problemOf(error))
      return undefined
    } finally {
      await refresh()
      setBusy(false)
    }
  }
  return { mutate, refresh, isBusy }
}
