import { ActionIcon, Button } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { api, dataOf } from '../../api/client.ts'
import { DEFAULT_SORT, requestOf, type TaskFilters } from '../../api/queries.ts'
import { download } from '../../components/download.ts'
import { useMutation } from '../../components/use-mutation.ts'

interface DownloadCsvProps {
  filters: TaskFilters
  isInMenu?: boolean
}

/** Downloads all tasks that the list shows. */
export function DownloadCsv({ filters, isInMenu = false }: DownloadCsvProps) {
  const { downloadCsv, isBusy } = useDownloadCsv()
  const buttonProps = { loading: isBusy, onClick: () => downloadCsv(filters) }
  return isInMenu ? (
    <Button {...buttonProps} variant="subtle" fullWidth justify="flex-start">
      Download as CSV
    </Button>
  ) : (
    <ActionIcon {...buttonProps} aria-label="Download as CSV">
      <DownloadIcon size={16} />
    </ActionIcon>
  )
}

export function useDownloadCsv() {
  const { mutate, isBusy } = useMutation()
  const fetchCsv = async (filters: TaskFilters) => {
    const tasks = await dataOf<unknown>(
      api.GET('/api/tasks', {
        params: { query: { sort: DEFAULT_SORT, ...requestOf(filters) } },
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
