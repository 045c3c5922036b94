import { type ComponentType, lazy } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { projectsQuery, tasksQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import { useSearchString } from './navigation/location-provider.tsx'
import { parseSearch } from './navigation/search-params.ts'
import { RequireSession } from './session/require-session.tsx'
import { AppShell } from './shell/app-shell.tsx'
import { NotFoundPage, PageErrorBoundary } from './shell/error-page.tsx'
import { filtersFrom } from './tasks/filters.ts'
import { TasksPage } from './tasks/tasks-page.tsx'
import { triageFiltersOf } from './tasks/triage/triage-filters.ts'

const chunks: { path: string; load(): Promise<unknown> }[] = []

/** A page whose code is fetched when an address that begins with the path is opened or preloaded. */
function lazyPage<Props>(path: string, load: () => Promise<{ default: ComponentType<Props> }>) {
  chunks.push({ path, load })
  return lazy(load)
}

const SignInPage = lazyPage('/sign-in', () => import('./session/sign-in-page.tsx'))
const acceptInvite = () => import('./session/accept-invite-page.tsx')
const InvitePage = lazyPage('/invite', async () => ({ default: (await acceptInvite()).InvitePage }))
const NewPasswordPage = lazyPage('/new-password', async () => ({
  default: (await acceptInvite()).NewPasswordPage,
}))
const TriagePage = lazyPage('/triage', () => import('./tasks/triage/triage-page.tsx'))
const TaskPanel = lazyPage('/tasks/', () => import('./tasks/panel/task-panel.tsx'))
const ProjectPage = lazyPage('/projects/', () => import('./projects/project-page.tsx'))
const OverviewPage = lazyPage('/overview', () => import('./overview/overview-page.tsx'))
const FeedbackOverviewPage = lazyPage(
  '/overview/feedback',
  () => import('./overview/feedback-overview-page.tsx'),
)
const IncomingPage = lazyPage('/incoming', () => import('./incoming/incoming-page.tsx'))
const NotificationsPage = lazyPage('/notifications', () => import('./notifications/notifications-page.tsx'))
const TrashPage = lazyPage('/trash', () => import('./tasks/trash/trash-page.tsx'))
const SettingsLayout = lazyPage('/settings', () => import('./settings/settings-layout.tsx'))
const InstructionsPage = lazyPage('/settings/instructions', () => import('./settings/instructions-page.tsx'))
const KeysPage = lazyPage('/settings/keys', () => import('./settings/keys-page.tsx'))
const PeoplePage = lazyPage('/settings/people', () => import('./settings/people-page.tsx'))
const ProvidersPage = lazyPage('/settings/sign-in', () => import('./settings/providers-page.tsx'))
const AccountPage = lazyPage('/settings/account', () => import('./settings/account-page.tsx'))
const SessionsPage = lazyPage('/settings/sessions', () => import('./settings/sessions-page.tsx'))
const WebhookPage = lazyPage('/settings/webhook', () => import('./settings/webhook-page.tsx'))
const RoutingPage = lazyPage('/settings/routing', () => import('./settings/routing-page.tsx'))
const SourcesPage = lazyPage('/settings/sources', () => import('./settings/sources-page.tsx'))
const CodeHostsPage = lazyPage('/settings/code-hosts', () => import('./projects/code-hosts-page.tsx'))
const OutgoingWebhooksPage = lazyPage(
  '/settings/outgoing',
  () => import('./settings/outgoing-webhooks-page.tsx'),
)
const DataPage = lazyPage('/settings/data', () => import('./transfer/data-page.tsx'))

export function Routes() {
  return (
    <PageErrorBoundary>
      <Switch>
        <Route path="/sign-in" component={SignInPage} />
        <Route path="/invite" component={InvitePage} />
        <Route path="/new-password" component={NewPasswordPage} />
        <Route>
          <RequireSession>
            <AppShell>
              <ShellRoutes />
            </AppShell>
          </RequireSession>
        </Route>
      </Switch>
    </PageErrorBoundary>
  )
}

const ShellRoutes = () => (
  <PageErrorBoundary>
    <Switch>
      <Route path="/">
        <Redirect to="/triage" replace />
      </Route>
      <Route path="/triage/:taskId?">
        <TriagePage>
          <OpenTask path="/triage/:taskId" />
        </TriagePage>
      </Route>
      <Route path="/tasks/:taskId?">
        <TasksPage>
          <OpenTask path="/tasks/:taskId" />
        </TasksPage>
      </Route>
      <Route path="/overview" component={OverviewPage} />
      <Route path="/overview/feedback" component={FeedbackOverviewPage} />
      <Route path="/incoming" component={IncomingPage} />
      <Route path="/projects/:projectId" component={ProjectPage} />
      <Route path="/notifications" component={NotificationsPage} />
      <Route path="/trash" component={TrashPage} />
      <Route path="/settings">
        <Redirect to="/settings/instructions" replace />
      </Route>
      <Route path="/settings/deliveries">
        <Moved receiver="codehost" />
      </Route>
      <Route path="/settings/feedback-deliveries">
        <Moved receiver="feedback" />
      </Route>
      <Route path="/settings/*">
        <SettingsLayout>
          <SettingsRoutes />
        </SettingsLayout>
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  </PageErrorBoundary>
)

/** Where one door alone had its list. */
const Moved = ({ receiver }: { receiver: string }) => (
  <Redirect to={`/incoming?receiver=${receiver}${useSearchString().replace('?', '&')}`} replace />
)

const OpenTask = ({ path }: { path: string }) => (
  <Route path={path}>
    <PageErrorBoundary>
      <TaskPanel />
    </PageErrorBoundary>
  </Route>
)

const SettingsRoutes = () => (
  <PageErrorBoundary>
    <Switch>
      <Route path="/settings/instructions" component={InstructionsPage} />
      <Route path="/settings/keys" component={KeysPage} />
      <Route path="/settings/people" component={PeoplePage} />
      <Route path="/settings/sign-in" component={ProvidersPage} />
      <Route path="/settings/account" component={AccountPage} />
      <Route path="/settings/sessions" component={SessionsPage} />
      <Route path="/settings/webhook" component={WebhookPage} />
      <Route path="/settings/routing" component={RoutingPage} />
      <Route path="/settings/sources" component={SourcesPage} />
      <Route path="/settings/code-hosts" component={CodeHostsPage} />
      <Route path="/settings/outgoing" component={OutgoingWebhooksPage} />
      <Route path="/settings/data" component={DataPage} />
      <Route component={NotFoundPage} />
    </Switch>
  </PageErrorBoundary>
)

/** Fetches the code and the data of a page. */
export function preloadPage(href: string) {
  const address = href === '/' ? '/triage' : href
  for (const { path, load } of chunks) if (address.startsWith(path)) load().catch(() => {})
  const { pathname, search } = new URL(address, location.origin)
  const isTriage = pathname.startsWith('/triage')
  if (!isTriage && !pathname.startsWith('/tasks')) return
  const filters = (isTriage ? triageFiltersOf : filtersFrom)(parseSearch(search))
  void queryClient.prefetchInfiniteQuery(tasksQuery(filters))
  void queryClient.prefetchQuery(projectsQuery)
}
