import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { problemOf } from '../api/problem.ts'
import { usePageTitle } from '../components/use-page-title.ts'

const PROBE_MS = 1_500
const RELOADED_AT = 'inlet-reloaded-at'
/** A page that fails again at once, though the service responds, is not loaded over and over. */
const LEAST_BETWEEN_MS = 30_000

/** Whether the app shell, which has the `main` element, is around this component. */
export const InsideShell = createContext(false)

/** An address that leads nowhere. */
export function NotFoundPage() {
  usePageTitle('Page not found')
  return (
    <Page>
      <h1>Page not found</h1>
      <p className="quiet">The address may be old or mistyped.</p>
      <Link to="/tasks" className="target">
        Go to all tasks
      </Link>
    </Page>
  )
}

/** A page that failed; the rest goes on. */
export function ErrorPage({ error }: { error: unknown }) {
  const problem = problemOf(error)
  const isAway = problem.code === 'unreachable' || problem.status >= 502
  useEffect(() => {
    if (isAway) return reloadWhenAvailable()
  }, [isAway])
  return (
    <Page>
      <div role="alert" className="stack">
        <h1>This page could not be shown</h1>
        <p className="quiet breakable">{problem.message}</p>
      </div>
      <div>
        <Button onClick={() => location.reload()}>Try again</Button>
      </div>
    </Page>
  )
}

function Page({ children }: { children: ReactNode }) {
  const Element = useContext(InsideShell) ? 'div' : 'main'
  return (
    <Element style={{ padding: 32 }} className="stack">
      {children}
    </Element>
  )
}

/** Loads the page again as soon as the service responds; answers how to stop. */
function reloadWhenAvailable(): () => void {
  let wasAway = false
  const timer = setInterval(async () => {
    const response = await fetch('/readyz').catch(() => undefined)
    if (!response?.ok) {
      wasAway = true
      return
    }
    const reloadedAt = Number(sessionStorage.getItem(RELOADED_AT))
    if (!wasAway && Date.now() - reloadedAt < LEAST_BETWEEN_MS) return
    clearInterval(timer)
    sessionStorage.setItem(RELOADED_AT, String(Date.now()))
    location.reload()
  }, PROBE_MS)
  return () => clearInterval(timer)
}
