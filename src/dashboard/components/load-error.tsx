import { Button } from '@mantine/core'
import { problemOf } from '../api/problem.ts'

interface LoadErrorProps {
  /** The subject of the sentence "… could not be loaded". */
  what: string
  query: { error: unknown; refetch(): unknown }
}

/** The error of one region, with a retry button. */
export function LoadError({ what, query }: LoadErrorProps) {
  return (
    <div role="alert" className="stack" style={{ padding: 16, gap: 8 }}>
      <strong>Couldn't load {what}</strong>
      <span className="quiet breakable">{problemOf(query.error).message}</span>
      <div>
        <Button variant="default" onClick={() => query.refetch()}>
          Try again
        </Button>
      </div>
    </div>
  )
}
