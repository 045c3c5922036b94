import { Button } from '@mantine/core'
import { problemOf } from '../api/problem.ts'

interface NotLoadedProps {
  /** What is missing, as the beginning of a sentence. */
  what: string
  query: { error: unknown; refetch(): unknown }
}

/** A region that failed says so in its own place, and only there. */
export function NotLoaded({ what, query }: NotLoadedProps) {
  return (
    <div role="alert" className="stack" style={{ padding: 16, gap: 8 }}>
      <strong>{what} could not be loaded.</strong>
      <span className="quiet breakable">{problemOf(query.error).message}</span>
      <div>
        <Button variant="default" onClick={() => query.refetch()}>
          Try again
        </Button>
      </div>
    </div>
  )
}
