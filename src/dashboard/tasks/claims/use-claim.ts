import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { Task, TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { patchTask } from '../edits/task-requests.ts'

/** Of a person, who renews it with a button. */
const LEASE_SECONDS = 8 * 60 * 60

/** Claims of a task by the person who is signed in. */
export function useClaim({ id, claim }: Pick<Task, 'id' | 'claim'>) {
  const queryClient = useQueryClient()
  const { mutate, isBusy } = useMutation('task', 'timeline')
  const path = { id }

  /** Opens the task, which ends any claim: people are never blocked. */
  const open = () => patchTask({ id, change: { status: 'open' } })

  async function show(request: Promise<object>) {
    const receive = recordsOf(queryClient).request()
    // With `tasks:read`, which the panel requires, claims return full tasks.
    receive([(await request) as TaskListItem])
  }

  return {
    isBusy,
    claim: () =>
      mutate("Couldn't claim the task", async () => {
        if (claim) await open()
        const request = { params: { path }, body: { leaseSeconds: LEASE_SECONDS } }
        await show(dataOf(api.POST('/api/tasks/{id}/claim', request)))
      }),
    renew: (number: number) =>
      mutate("Couldn't extend the claim", async () => {
        const request = { params: { path }, body: { number, leaseSeconds: LEASE_SECONDS } }
        await show(dataOf(api.POST('/api/tasks/{id}/claim/renew', request)))
      }),
    release: () => mutate("Couldn't release the task", () => show(open())),
  }
}
