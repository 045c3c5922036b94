import { api, dataOf } from '../api/client.ts'
import { useMutation } from '../components/use-mutation.ts'

/** Marks notifications as read, some or all. */
export function useRead() {
  const { mutate, isBusy } = useMutation('notifications')
  return {
    isBusy,
    read: (ids: string[] | 'all') =>
      mutate("Couldn't mark as read", () =>
        dataOf(api.POST('/api/notifications/read', { body: ids === 'all' ? { all: true } : { ids } })),
      ),
  }
}
