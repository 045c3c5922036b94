import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { lastFailedWriteQuery } from '../api/status-query.ts'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { isAboutTask, type Place, placeToMend } from './mending.ts'

type Pipe = Schema<'Pipe'>

/** Leads to where a pipe that fails can be mended; nothing for those who may not mend it. */
export function MendingLink({ pipe }: { pipe: Pipe }) {
  const { place } = usePlace(pipe)
  if (!place) return null
  return (
    <Button variant="default" renderRoot={(props) => <Link to={place.to} search={place.search} {...props} />}>
      {place.label}
    </Button>
  )
}

/** Without a place while it is not known yet. */
function usePlace(pipe: Pipe): { place?: Place } {
  const { can } = useMe()
  const { data: failed, isLoading } = useQuery({
    ...lastFailedWriteQuery(pipe.projectId ?? ''),
    enabled: isAboutTask(pipe),
  })
  if (isLoading) return {}
  if (failed?.taskId) return { place: { label: 'Open task', to: `/tasks/${failed.taskId}` } }
  return can('admin') ? { place: placeToMend(pipe) } : {}
}
