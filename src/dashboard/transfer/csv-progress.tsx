import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { api, responseOf } from '../api/client.ts'
import { invalidate } from '../api/invalidate.ts'
import type { Problem } from '../api/problem.ts'
import { download } from '../components/download.ts'
import { ErrorText } from '../components/error-text.tsx'
import { ProgressBar } from '../components/progress-bar.tsx'
import { plural } from '../lib/plural.ts'
import type { CsvFile } from './csv-file.ts'
import { csvText } from './csv-file.ts'
import { contentKey, type ImportProgress, NOT_BEGUN, sendRows } from './csv-send.ts'
import type { MappedRow, Mapping } from './csv-tasks.ts'

interface CsvProgressProps {
  file: CsvFile
  mapping: Mapping
  rows: MappedRow[]
  listId: string
  onClose(): void
}

/** Imports the rows, and shows how far it is; can be stopped and resumed. */
export function CsvProgress({ file, mapping, rows, listId, onClose }: CsvProgressProps) {
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState<ImportProgress>(NOT_BEGUN)
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)

  const run = useCallback(
    async (from: ImportProgress) => {
      isStopped.current = false
      setRunning(true)
      const importKey = contentKey(JSON.stringify([listId, rows.map(({ task }) => task)]))
      const end = await sendRows({
        rows,
        from,
        importKey,
        wait,
        onProgress: setProgress,
        isStopped: () => isStopped.current,
        send: async (tasks, key) => {
          const { data, response } = await responseOf(
            api.POST('/api/tasks/bulk', {
              params: { query: { onError: 'continue' }, header: { 'idempotency-key': key } },
              body: { listId, tasks },
            }),
          )
          if (!('results' in data)) throw new Error('The response has no results.')
          return { results: data, isReplay: response.headers.has('idempotency-replayed') }
        },
      })
      setProgress(end)
      setRunning(false)
      for (const key of ['tasks', 'projects', 'lists']) await invalidate(queryClient, { queryKey: [key] })
    },
    [rows, listId, queryClient],
  )

  useEffect(() => {
    void run(NOT_BEGUN)
    // What is not sent yet is not sent by a page that nobody sees.
    return () => {
      isStopped.current = true
    }
  }, [run])

  const { done, created, existing, replayed, failures, problem } = progress
  const isOver = done === rows.length
  return (
    <>
      <ProgressBar label="Import" fraction={done / rows.length} isRunning={isRunning} />
      <p role="status" style={{ margin: 0 }}>
        {isOver ? 'Imported' : isRunning ? 'Importing' : 'Stopped'}: {done.toLocaleString()} of{' '}
        {plural(rows.length, 'row')}. {plural(created, 'task')} created
        {replayed > 0 && `, ${plural(replayed, 'row')} already imported`}
        {existing > 0 && `, ${existing.toLocaleString()} already there`}
        {failures.length > 0 && `, ${failures.length.toLocaleString()} failed`}.
      </p>
      {replayed > 0 && !isRunning && (
        <p className="quiet small" style={{ margin: 0 }}>
          Rows that were already imported into this list within 24 hours created nothing. If you deleted their
          tasks since, restore them from the trash.
        </p>
      )}
      {problem && !isRunning && <ErrorText>{problem.message}</ErrorText>}
      <div className="row row-wrap">
        {isRunning && (
          <Button
            variant="default"
            onClick={() => {
              isStopped.current = true
            }}
          >
            Stop
          </Button>
        )}
        {!isRunning && !isOver && <Button onClick={() => void run(progress)}>Resume</Button>}
        {!isRunning && failures.length > 0 && (
          <Button
            variant="default"
            onClick={() => download(`failed-${file.name}`, failedRows(file, failures))}
          >
            Download failed rows
          </Button>
        )}
        {!isRunning && (
          <Button variant="default" onClick={onClose}>
            Import another file
          </Button>
        )}
      </div>
      {mapping.includes('externalId') || isRunning || replayed > 0 || (
        <p className="quiet small" style={{ margin: 0 }}>
          If you import the same file into the same list again within 24 hours, no task is created twice.
        </p>
      )}
    </>
  )
}

const failedRows = ({ columns }: CsvFile, failures: ImportProgress['failures']) =>
  new Blob(
    [
      csvText(
        [...columns, 'error'],
        failures.map(({ row, message }) => [...row.cells, message]),
      ),
    ],
    { type: 'text/csv' },
  )

/** Until the request may be sent again. */
const wait = ({ retryAfterSeconds = 1 }: Problem) =>
  new Promise<void>((resolve) => setTimeout(resolve, retryAfterSeconds * 1_000))
