import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import styles from './task-list.module.css'

/** A skeleton for longer than this tells nobody anything. */
const SKELETON_MS = 1_000

interface WaitingProps {
  query: { failureReason: unknown; refetch(): unknown }
  queryKey: readonly unknown[]
}

/** The shape of the rows to come, for a second; then what keeps them, and what to do. */
export function Waiting({ query, queryKey }: WaitingProps) {
  const cache = useQueryClient()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_MS)
    return () => clearTimeout(timer)
  }, [])
  const askAgain = async () => {
    await cache.cancelQueries({ queryKey })
    await query.refetch()
  }
  if (!isLate) {
    return (
      <div className={styles.waiting} role="status" aria-label="The tasks are loading">
        {Array.from({ length: 14 }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they never change.
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
          ? `${problemOf(query.failureReason).message} It is asked again by itself.`
          : 'Inlet has not answered yet. It may be starting, or the connection may be slow.'}
      </span>
      <div>
        <Button variant="default" onClick={() => void askAgain()}>
          Ask again now
        </Button>
      </div>
    </div>
  )
}
