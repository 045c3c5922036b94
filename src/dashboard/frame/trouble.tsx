import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { problemOf } from '../api/problem.ts'

/** An address that leads nowhere. */
export function Lost() {
  return (
    <main style={{ padding: 32 }} className="stack">
      <h1>There is no such page</h1>
      <p className="quiet">The address may be old or mistyped.</p>
      <Link to="/tasks" className="target">
        Go to all tasks
      </Link>
    </main>
  )
}

/** A page that failed; the rest goes on. */
export function Trouble({ error, reset }: { error: unknown; reset(): void }) {
  return (
    <main style={{ padding: 32 }} className="stack" role="alert">
      <h1>This page could not be shown</h1>
      <p className="quiet breakable">{problemOf(error).message}</p>
      <div>
        <Button
          onClick={() => {
            reset()
            location.reload()
          }}
        >
          Try again
        </Button>
      </div>
    </main>
  )
}
