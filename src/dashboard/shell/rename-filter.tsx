import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { NameDialog } from '../components/name-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { MAX_FILTER_NAME, savedFiltersQuery } from '../tasks/list/saved-filters.ts'

/** Nothing for a filter that is gone. */
export default function RenameFilter({ id, onClose }: { id: string; onClose(): void }) {
  const { data: saved = [] } = useQuery(savedFiltersQuery)
  const { mutate, isBusy } = useMutation('saved-filters')
  const filter = saved.find((one) => one.id === id)
  const rename = (name: string) =>
    mutate("Couldn't rename the filter", () =>
      dataOf(api.PATCH('/api/saved-filters/{id}', { params: { path: { id } }, body: { name } })),
    )
  if (!filter) return null
  return (
    <NameDialog
      title="Rename filter"
      verb="Rename"
      draftName={`filter:${id}`}
      name={filter.name}
      maxLength={MAX_FILTER_NAME}
      isBusy={isBusy}
      onSave={rename}
      onClose={onClose}
    />
  )
}
