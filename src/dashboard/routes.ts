import { projectsQuery, tasksQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import type { Location, Route } from './navigation/location.ts'
import { createRouter, lazyPage } from './navigation/router.tsx'
import { formatSearch } from './navigation/search-params.ts'
import { meQuery } from './session/session.ts'
import { AppShell } from './shell/app-shell.tsx'
import { ErrorPage, NotFoundPage } from './shell/error-page.tsx'
import { filtersFrom } from './tasks/filters.ts'
import { TasksPage } from './tasks/tasks-page.tsx'

const SignInPage = lazyPage(() => import('./session/sign-in-page.tsx'), 'SignInPage')
const TaskPanel = lazyPage(() => import('./tasks/panel/task-panel.tsx'), 'TaskPanel')
const ProjectPage = lazyPage(() => import('./projects/project-page.tsx'), 'ProjectPage')
const TrashPage = lazyPage(() => import('./tasks/trash/trash-page.tsx'), 'TrashPage')
const SettingsLayout = lazyPage(() => import('./settings/settings-layout.tsx'), 'SettingsLayout')
const InstructionsPage = lazyPage(() => import('./settings/instructions-page.tsx'), 'InstructionsPage')
const KeysPage = lazyPage(() => import('./settings/keys-page.tsx'), 'KeysPage')
const SessionsPage = lazyPage(() => import('./settings/sessions-page.tsx'), 'SessionsPage')
const WebhookPage = lazyPage(() => import('./settings/webhook-page.tsx'), 'WebhookPage')
const RoutingPage = lazyPage(() => import('./settings/routing-page.tsx'), 'RoutingPage')
const DeliveriesPage = lazyPage(() => import('./settings/deliveries-page.tsx'), 'DeliveriesPage')
const EventsPage = lazyPage(() => import('./settings/events-page.tsx'), 'EventsPage')

const routes: Route[] = [
  { path: '/sign-in', components: [SignInPage], searchFrom: nextPageFrom },
  { path: '/tasks', components: [AppShell, TasksPage], searchFrom: filtersFrom },
  { path: '/tasks/$taskId', components: [AppShell, TasksPage, TaskPanel], searchFrom: filtersFrom },
  { path: '/projects/$projectId', components: [AppShell, ProjectPage] },
  {
    path: '/trash',
    components: [AppShell, TrashPage],
    searchFrom: projectFrom,
  },
  { path: '/settings/instructions', components: [AppShell, SettingsLayout, InstructionsPage] },
  { path: '/settings/keys', components: [AppShell, SettingsLayout, KeysPage] },
  { path: '/settings/sessions', components: [AppShell, SettingsLayout, SessionsPage] },
  { path: '/settings/webhook', components: [AppShell, SettingsLayout, WebhookPage] },
  { path: '/settings/routing', components: [AppShell, SettingsLayout, RoutingPage] },
  { path: '/settings/events', components: [AppShell, SettingsLayout, EventsPage] },
  {
    path: '/settings/deliveries',
    components: [AppShell, SettingsLayout, DeliveriesPage],
    searchFrom: projectFrom,
  },
]

const REDIRECTS: Record<string, string> = { '/': '/tasks', '/settings': '/settings/instructions' }

export const router = createRouter({
  routes,
  // Unknown paths keep the sidebar.
  notFound: [AppShell, NotFoundPage],
  errorPage: ErrorPage,
  async beforeLoad({ pathname, search, href }: Location) {
    const redirect = REDIRECTS[pathname]
    if (redirect || pathname === '/sign-in') return redirect
    // Requested in parallel with /api/me, so that the task page waits for one round trip.
    if (pathname.startsWith('/tasks')) {
      void queryClient.prefetchInfiniteQuery(tasksQuery(search))
      void queryClient.prefetchQuery(projectsQuery)
    }
    const me = await queryClient.ensureQueryData(meQuery)
    return me ? undefined : `/sign-in${formatSearch({ next: href })}`
  },
})

function projectFrom(params: Record<string, unknown>) {
  const { projectId } = filtersFrom(params)
  return projectId ? { projectId } : {}
}

/** Prevents open redirects: only paths of this dashboard. */
function nextPageFrom({ next }: Record<string, unknown>) {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {}
}
