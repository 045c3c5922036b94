import { ActionIcon, Skeleton } from '@mantine/core'
import {
  GraphIcon,
  InboxIcon,
  ListUnorderedIcon,
  PersonIcon,
  PlusIcon,
  SlidersIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useLocation } from 'wouter'
import { projectsQuery } from '../api/queries.ts'
import { firstPageRendered, lazyComponent, preload } from '../components/lazy.tsx'
import { LoadError } from '../components/load-error.tsx'
import { Logo } from '../components/logo.tsx'
import { PROJECT } from '../keyboard/shortcuts.ts'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useMe } from '../session/session.ts'
import { isOfQuestions, isWorkOf, searchOf, workOf } from '../tasks/filters.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { Account } from './account.tsx'
import { OpenCount } from './open-count.tsx'
import { ProjectLinks } from './project-links.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import styles from './sidebar.module.css'

const NotificationsLink = preload(() => import('./notifications-link.tsx'))
const SavedFilters = preload(() => import('./saved-filters.tsx'))
const FailingCount = preload(() => import('./failing-count.tsx'))
const QuestionsLink = preload(() => import('../tasks/questions-link.tsx'))
const TriageCount = preload(() => import('../tasks/triage/triage-count.tsx'))
const FirstOwner = lazyComponent(async () => {
  await firstPageRendered
  return import('./first-owner.tsx')
})

export function Sidebar() {
  const { me, can, isServiceWide, canCreateOwner } = useMe()
  const username = me?.user?.username
  const projects = useQuery({ ...projectsQuery, enabled: can('tasks:read') })
  const [pathname] = useLocation()
  const isAllTasks = useIsAllTasks(username)
  const { open } = useOpened('new')
  const active = projects.data?.filter(({ archivedAt }) => archivedAt === null) ?? []
  const archived = projects.data?.filter(({ archivedAt }) => archivedAt !== null) ?? []
  const openTasks = active.reduce((sum, { openCount }) => sum + openCount, 0)

  return (
    <div className={styles.side}>
      <div className={styles.brand}>
        <Logo />
        <ProjectSwitcher projects={active} openTasks={openTasks} />
        <Suspense>{can('tasks:read') && me?.user && <NotificationsLink />}</Suspense>
      </div>
      <nav aria-label="Tasks" className={styles.nav}>
        {can('tasks:read') && (
          <Link to="/triage" className={styles.link} activeClassName={styles.active}>
            <InboxIcon size={16} aria-hidden />
            <span>Triage</span>
            <Suspense>
              <TriageCount className={styles.count} />
            </Suspense>
          </Link>
        )}
        {can('tasks:read') && (
          <Suspense>
            <QuestionsLink className={styles.link ?? ''} activeClassName={styles.active ?? ''} />
          </Suspense>
        )}
        {can('tasks:read') && username && (
          <Link
            to="/tasks"
            search={searchOf(workOf(username))}
            className={styles.link}
            activeClassName={styles.active}
          >
            <PersonIcon size={16} aria-hidden />
            <span>My work</span>
          </Link>
        )}
        {can('tasks:read') && (
          <Link
            to="/overview"
            className={`${styles.link} ${pathname === '/incoming' ? styles.active : ''}`}
            activeClassName={styles.active}
          >
            <GraphIcon size={16} aria-hidden />
            <span>Overview</span>
            <Suspense>
              <FailingCount />
            </Suspense>
          </Link>
        )}
        <Link
          to="/tasks"
          search={{}}
          className={styles.link}
          activeClassName={styles.active}
          isActive={isAllTasks}
        >
          <ListUnorderedIcon size={16} aria-hidden />
          <span>All tasks</span>
          {projects.data && <OpenCount count={openTasks} />}
        </Link>
        <Suspense>{can('tasks:read') && <SavedFilters />}</Suspense>
        <div className={styles.heading}>
          <h2>Projects</h2>
          {can('admin') && isServiceWide && (
            <ActionIcon onClick={() => open(PROJECT)} aria-label="New project" size={32}>
              <PlusIcon size={16} />
            </ActionIcon>
          )}
        </div>
        {projects.isPending && can('tasks:read') && <Skeleton height={96} mx={12} width="auto" />}
        {projects.isError && can('tasks:read') && <LoadError what="projects" query={projects} />}
        {active.map((project) => (
          <ProjectLinks key={project.id} project={project} />
        ))}
        {archived.length > 0 && (
          <details className={styles.archived}>
            <summary>Archived ({archived.length})</summary>
            {archived.map((project) => (
              <ProjectLinks key={project.id} project={project} />
            ))}
          </details>
        )}
      </nav>
      <Suspense>{canCreateOwner && <FirstOwner />}</Suspense>
      <nav aria-label="Settings and account" className={styles.foot}>
        {can('tasks:read') && (
          <Link to="/trash" className={styles.link} activeClassName={styles.active}>
            <TrashIcon size={16} aria-hidden />
            <span>Trash</span>
          </Link>
        )}
        <Link
          to="/settings/instructions"
          className={`${styles.link} ${pathname.startsWith('/settings/') ? styles.active : ''}`}
        >
          <SlidersIcon size={16} aria-hidden />
          <span>Settings</span>
        </Link>
        <Account />
      </nav>
    </div>
  )
}

/** Other filters of the task list keep "All tasks" selected. */
function useIsAllTasks(username: string | undefined): boolean {
  const [pathname] = useLocation()
  const filters = useFilters()
  return (
    pathname.startsWith('/tasks') &&
    !filters.projectId &&
    !isWorkOf(username, filters) &&
    !isOfQuestions(filters)
  )
}
