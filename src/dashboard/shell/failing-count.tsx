import { AlertFillIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../api/status-query.ts'
import styles from './sidebar.module.css'

/** How many ways in and out fail; nothing when none does. */
export default function FailingCount() {
  const { data } = useQuery(statusQuery({ perState: 0 }))
  const counts = data?.counts ?? []
  const count = counts.reduce((sum, { state, count }) => (state === 'failing' ? sum + count : sum), 0)
  if (count === 0) return null
  return (
    <span className={`${styles.count} ${styles.failing}`}>
      <AlertFillIcon size={12} aria-hidden />
      {count.toLocaleString()}
      <span className="visually-hidden"> failing</span>
    </span>
  )
}
