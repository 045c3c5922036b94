import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { problemOf } from '../api/problem.ts'
import { usePageTitle } from '../parts/use-page-title.ts'
import { useInFrame } from './in-frame.ts'
import { reloadWhenBack } from './reload-when-back.ts'

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
    if (isAway) return reloadWhenBack()
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
  const Element = useInFrame() ? 'div' : 'main'
  return (
    <Element style={{ padding: 32 }} className="stack">
      {children}
    </Element>
  )
}
