import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'

/** `full` checks every item again. */
export function useSync(projectId: string) {
  const { startSync, isBusy } = useStartSync()
  return { sync: (mode?: 'full') => startSync(projectId, mode), isBusy }
}

/** For any project. */
export function useStartSync() {
  const { mutate, isBusy } = useMutation('syncs', 'projects')

  async function startSync(projectId: string, mode?: 'full') {
    const query = mode ? { mode } : {}
    const run = await mutate("Couldn't start the sync", async () => {
      try {
        return await dataOf(
          api.POST('/api/codehost/{projectId}/sync', { params: { path: { projectId }, query } }),
        )
      } catch (error) {
        // A sync is running already.
        if (problemOf(error).code !== 'sync_in_progress') throw error
        toast.info('A sync is already running')
        return undefined
      }
    })
    if (run) toast.info('Sync started')
  }
  return { startSync, isBusy }
}
