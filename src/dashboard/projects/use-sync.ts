import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'

/** Starts a sync of a project; `full` looks at everything once more. */
export function useSync(projectId: string) {
  const { act, isBusy } = useMutation('syncs', 'projects')

  async function sync(mode?: 'full') {
    const query = mode ? { mode } : {}
    const run = await act('The sync did not start', async () => {
      try {
        return await dataOf(
          api.POST('/api/codehost/{projectId}/sync', { params: { path: { projectId }, query } }),
        )
      } catch (error) {
        // One is under way already: that is what was wanted.
        if (problemOf(error).code !== 'sync_in_progress') throw error
        toast.done('A sync is under way already.')
        return undefined
      }
    })
    if (run) toast.done('The sync has begun.')
  }
  return { sync, isBusy }
}
