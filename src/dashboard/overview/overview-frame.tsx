import { SegmentedControl } from '@mantine/core'
import type { ReactNode, Ref } from 'react'
import { usePageTitle } from '../components/use-page-title.ts'
import { Link } from '../navigation/link.tsx'
import { FillDefinitions } from '../pictures/fills.tsx'
import { useMe } from '../session/session.ts'
import { ProjectFilter } from '../tasks/list/project-filter.tsx'
import { NoReadScope } from '../tasks/no-read-scope.tsx'
import styles from './overview.module.css'
import { searchOf, useScope, WEEKS } from './scope.ts'

const WEEK_OPTIONS = WEEKS.map((count) => ({ value: String(count), label: `${count} weeks` }))

interface OverviewFrameProps {
  title: string
  /** Beside the title, instead of the project and the weeks. */
  filters?: ReactNode
  /** What scrolls. */
  ref?: Ref<HTMLDivElement>
  children: ReactNode
}

/** What the pages share that show what flows in and out: their links, and the project and the weeks. */
export function OverviewFrame({ title, filters = <ScopeFilters />, ref, children }: OverviewFrameProps) {
  usePageTitle(title)
  const { scope } = useScope()
  const { can } = useMe()
  const tab = { search: searchOf(scope), className: styles.tab }
  return (
    <div ref={ref} className={styles.page}>
      <FillDefinitions />
      <header className={styles.header}>
        <h1>{title}</h1>
        <nav aria-label="Overview pages" className={styles.tabs}>
          <Link {...tab} to="/overview" isExact>
            Tasks
          </Link>
          <Link {...tab} to="/overview/feedback">
            Feedback
          </Link>
          <Link {...tab} to="/incoming" search={{ projectId: scope.projectId }}>
            Incoming
          </Link>
        </nav>
        <div className={styles.scope}>{filters}</div>
      </header>
      {can('tasks:read') ? children : <NoReadScope />}
    </div>
  )
}

function ScopeFilters() {
  const { scope, change } = useScope()
  return (
    <>
      <ProjectFilter projectId={scope.projectId} onChange={(projectId) => change({ projectId })} />
      <SegmentedControl
        aria-label="Weeks"
        data={WEEK_OPTIONS}
        value={String(scope.weeks)}
        onChange={(weeks) => change({ weeks: Number(weeks) })}
      />
    </>
  )
}
