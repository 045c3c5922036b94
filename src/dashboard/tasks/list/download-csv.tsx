import { ActionIcon } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { api, dataOf } from '../../api/client.ts'
import { DEFAULT_SORT, type TaskFilters } from '../../api/queries.ts'
import { download } from '../../components/download.ts'
import { useMutation } from '../../components/use-mutation.ts'

/** Downloads all tasks that the list shows. */
export function DownloadCsv({ filters }: { filters: TaskFilters }) {
  const { downloadCsv, isBusy } = useDownloadCsv()
  return (
    <ActionIcon aria-label="Download as CSV" loading={isBusy} onClick={() => downloadCsv(filters)}>
      <DownloadIcon size={16} />
    </ActionIcon>
  )
}

export function useDownloadCsv() {
  const { mutate, isBusy } = useMutation()
  const fetchCsv = async (filters: TaskFilters) => {
    const tasks = await dataOf<unknown>(
      api.GET('/api/tasks', {
        params: { query: { sort: DEFAULT_SORT, ...filters } },
        headers: { accept: 'text/csv' },
        parseAs: 'blob',
      }),
    )
    download('tasks.csv', tasks as Blob)
  }
  const downloadCsv = (filters: TaskFilters) =>
    void mutate("Couldn't download the tasks", () => fetchCsv(filters))
  return { downloadCsv, isBusy }
}
