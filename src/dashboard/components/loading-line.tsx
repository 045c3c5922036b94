import { Button } from '@mantine/core'
import { useTimeout } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../api/problem.ts'
import styles from './components.module.css'

/** Most regions are loaded by then. */
const QUIET_MS = 3_000

export interface LoadingProps {
  what: string
  query: { failureReason: unknown; refetch(): unknown }
  queryKey: readonly unknown[]
}

/** The place beneath a skeleton, where after some seconds stands what is waited for. */
export function LoadingLine({ what, query, queryKey }: LoadingProps) {
  const queryClient = useQueryClient()
  const [isLate, setLate] = useState(false)
  useTimeout(() => setLate(true), QUIET_MS, { autoInvoke: true })
  const retry = async () => {
    await queryClient.cancelQueries({ queryKey })
    await query.refetch()
  }
  return (
    <div role="status" className={styles.loadingLine}>
      {isLate && (
        <>
          <span className="breakable">
            Still loading {what}.{' '}
            {query.failureReason
              ? `${problemOf(query.failureReason).message} Retrying automatically.`
              : 'Inlet has not responded yet. It may be starting, or the connection is slow.'}
          </span>
          <Button size="compact-sm" variant="subtle" onClick={() => void retry()}>
            Retry now
          </Button>
        </>
      )}
    </div>
  )
}
