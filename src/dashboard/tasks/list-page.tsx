import { type ReactNode, Suspense } from 'react'
import { useMe } from '../session/session.ts'
import { NoReadScope } from './no-read-scope.tsx'
import styles from './tasks-page.module.css'

interface ListPageProps {
  label: string
  header: ReactNode
  /** The list, for whom may read it. */
  children: ReactNode
  /** The open task. */
  panel: ReactNode
}

/** A list of tasks, and the open one beside it. */
export function ListPage({ label, header, children, panel }: ListPageProps) {
  const { can } = useMe()
  return (
    <div className={styles.page}>
      <section className={styles.main} aria-label={label}>
        <header className={styles.header}>{header}</header>
        {can('tasks:read') ? (
          children
        ) : (
          <div style={{ padding: 16 }}>
            <NoReadScope />
          </div>
        )}
      </section>
      <Suspense fallback={<aside className={styles.panel} aria-label="Task" />}>{panel}</Suspense>
    </div>
  )
}
