import { Button } from '@mantine/core'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { problemOf } from '../api/problem.ts'
import { ErrorBoundary } from '../components/error-boundary.tsx'
import { readStored, writeStored } from '../components/stored.ts'
import { usePageTitle } from '../components/use-page-title.ts'
import { Link } from '../navigation/link.tsx'
import { useNavigation } from '../navigation/location-provider.tsx'

const POLL_MS = 1_500
const RELOADED_AT_KEY = 'inlet-reloaded-at'
/** Prevents a reload loop when a page fails although the service responds. */
const MIN_RELOAD_INTERVAL_MS = 30_000

/** Whether the app shell, which has the `main` element, is around this component. */
export const InsideShell = createContext(false)

export function NotFoundPage() {
  usePageTitle('Page not found')
  return (
    <Page>
      <h1>Page not found</h1>
      <p className="quiet">Check the URL.</p>
      <Link to="/tasks" className="target">
        View all tasks
      </Link>
    </Page>
  )
}

/** Shows an error in place of a page, until another one is opened. */
export function PageErrorBoundary({ children }: { children: ReactNode }) {
  const { url } = useNavigation()
  return (
    <ErrorBoundary resetKey={url} fallback={(error) => <ErrorPage error={error} />}>
      {children}
    </ErrorBoundary>
  )
}

function ErrorPage({ error }: { error: unknown }) {
  const problem = problemOf(error)
  const isUnavailable = problem.code === 'unreachable' || problem.status >= 502
  useEffect(() => {
    if (isUnavailable) return reloadWhenAvailable()
  }, [isUnavailable])
  return (
    <Page>
      <div role="alert" className="stack">
        <h1>Couldn't load this page</h1>
        <p className="quiet breakable">{problem.message}</p>
      </div>
      <div>
        <Button onClick={() => location.reload()}>Try again</Button>
      </div>
    </Page>
  )
}

function Page({ children }: { children: ReactNode }) {
  const isInside = useContext(InsideShell)
  const Element = isInside ? 'div' : 'main'
  return (
    <Element style={{ padding: isInside ? 16 : 32 }} className="stack">
      {children}
    </Element>
  )
}

/** Reloads the page once the service responds. Returns a function that cancels it. */
function reloadWhenAvailable(): () => void {
  let wasUnavailable = false
  const timer = setInterval(async () => {
    const response = await fetch('/readyz').catch(() => undefined)
    if (!response?.ok) {
      wasUnavailable = true
      return
    }
    const reloadedAt = Number(readStored(RELOADED_AT_KEY))
    if (!wasUnavailable && Date.now() - reloadedAt < MIN_RELOAD_INTERVAL_MS) return
    clearInterval(timer)
    writeStored(RELOADED_AT_KEY, String(Date.now()))
    location.reload()
  }, POLL_MS)
  return () => clearInterval(timer)
}
