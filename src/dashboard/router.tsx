import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { projectsQuery, tasksQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import { meQuery } from './session/session.ts'
import { AppShell } from './shell/app-shell.tsx'
import { ErrorPage, NotFoundPage } from './shell/error-page.tsx'
import { filtersFrom } from './tasks/filters.ts'
import { TasksPage } from './tasks/tasks-page.tsx'

const root = createRootRoute({ component: Outlet, errorComponent: ErrorPage })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ next }): { next?: string } =>
    // Prevents open redirects: only paths of this dashboard.
    typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {},
  component: lazyRouteComponent(() => import('./session/sign-in-page.tsx'), 'SignInPage'),
})

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: AppShell,
  beforeLoad: async ({ location }) => {
    // Requested in parallel with /api/me, so that the task page waits for one round trip.
    if (location.pathname.startsWith('/tasks')) {
      void queryClient.prefetchInfiniteQuery(tasksQuery(filtersFrom(location.search)))
      void queryClient.prefetchQuery(projectsQuery)
    }
    const me = await queryClient.ensureQueryData(meQuery)
    if (!me) throw redirect({ to: '/sign-in', search: { next: location.href }, replace: true })
  },
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/tasks', replace: true })
  },
})

const tasks = createRoute({
  getParentRoute: () => signedIn,
  path: '/tasks',
  validateSearch: filtersFrom,
  component: TasksPage,
})

const task = createRoute({
  getParentRoute: () => tasks,
  path: '$taskId',
  component: lazyRouteComponent(() => import('./tasks/panel/task-panel.tsx'), 'TaskPanel'),
})

const project = createRoute({
  getParentRoute: () => signedIn,
  path: '/projects/$projectId',
  component: lazyRouteComponent(() => import('./projects/project-page.tsx'), 'ProjectPage'),
})

const trash = createRoute({
  getParentRoute: () => signedIn,
  path: '/trash',
  validateSearch: (search): { projectId?: string } => {
    const { projectId } = filtersFrom(search)
    return projectId ? { projectId } : {}
  },
  component: lazyRouteComponent(() => import('./tasks/trash/trash-page.tsx'), 'TrashPage'),
})

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-layout.tsx'), 'SettingsLayout'),
})

const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/instructions', replace: true })
  },
})

const instructions = createRoute({
  getParentRoute: () => settings,
  path: 'instructions',
  component: lazyRouteComponent(() => import('./settings/instructions-page.tsx'), 'InstructionsPage'),
})
const keys = createRoute({
  getParentRoute: () => settings,
  path: 'keys',
  component: lazyRouteComponent(() => import('./settings/keys-page.tsx'), 'KeysPage'),
})
const sessions = createRoute({
  getParentRoute: () => settings,
  path: 'sessions',
  component: lazyRouteComponent(() => import('./settings/sessions-page.tsx'), 'SessionsPage'),
})
const webhook = createRoute({
  getParentRoute: () => settings,
  path: 'webhook',
  component: lazyRouteComponent(() => import('./settings/webhook-page.tsx'), 'WebhookPage'),
})
const routing = createRoute({
  getParentRoute: () => settings,
  path: 'routing',
  component: lazyRouteComponent(() => import('./settings/routing-page.tsx'), 'RoutingPage'),
})
const events = createRoute({
  getParentRoute: () => settings,
  path: 'events',
  component: lazyRouteComponent(() => import('./settings/events-page.tsx'), 'EventsPage'),
})

/** Unknown paths keep the sidebar. */
const notFound = createRoute({ getParentRoute: () => signedIn, path: '$', component: NotFoundPage })

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    signedIn.addChildren([
      tasks.addChildren([task]),
      project,
      trash,
      notFound,
      settings.addChildren([settingsHome, instructions, keys, sessions, webhook, routing, events]),
    ]),
  ]),
  // Drops search parameters that no page validates.
  search: { strict: true },
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: ErrorPage,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
