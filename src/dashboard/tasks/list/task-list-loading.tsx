import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import styles from './task-list.module.css'

/** After this time the reason for the delay is shown. */
const SKELETON_MS = 1_000

interface TaskListLoadingProps {
  query: { failureReason: unknown; refetch(): unknown }
  queryKey: readonly unknown[]
}

/** A skeleton for one second, then the reason and a retry button. */
export function TaskListLoading({ query, queryKey }: TaskListLoadingProps) {
  const queryClient = useQueryClient()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_MS)
    return () => clearTimeout(timer)
  }, [])
  const retry = async () => {
    await queryClient.cancelQueries({ queryKey })
    await query.refetch()
  }
  if (!isLate) {
    return (
      <div className={styles.skeleton} role="status" aria-label="Loading tasks">
        {Array.from({ length: 14 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is static.
          <span key={index} style={{ width: `${38 + ((index * 17) % 41)}%` }} />
        ))}
      </div>
    )
  }
  return (
    <div role="status" className="stack" style={{ padding: 16, gap: 8 }}>
      <strong>Still loading</strong>
      <span className="quiet breakable">
        {query.failureReason
          ? `${problemOf(query.failureReason).message} Retrying automatically.`
          : 'Inlet has not responded yet. It may be starting, or the connection is slow.'}
      </span>
      <div>
        <Button variant="default" onClick={() => void retry()}>
          Retry now
        </Button>
      </div>
    </div>
  )
}
