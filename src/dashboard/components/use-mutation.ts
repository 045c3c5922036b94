import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { toast } from './toast.ts'

/** Runs a change, then asks anew for what it touched; what goes wrong is said under `title`. `refresh` only asks. */
export function useMutation(...queryKeys: string[]) {
  const cache = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const refresh = () => Promise.all(queryKeys.map((key) => cache.invalidateQueries({ queryKey: [key] })))
  async function act<T>(title: string, work: () => Promise<T>): Promise<T | undefined> {
    setBusy(true)
    try {
      return await work()
    } catch (error) {
      toast.problem(title, problemOf(error))
      return undefined
    } finally {
      await refresh()
      setBusy(false)
    }
  }
  return { act, refresh, isBusy }
}
