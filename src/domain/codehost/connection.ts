import { changesBetween, isNoChange } from '../changes.ts'

type Schedule = 'off' | 'hourly' | 'daily'

interface Settings {
  listId: string | null
  schedule: Schedule
}

const DEFAULTS: Settings = { listId: null, schedule: 'hourly' }

/** What a request leaves out keeps what is stored; a first connection takes the defaults. */
export function keptOf(
  { listId, schedule }: { [member in keyof Settings]?: Settings[member] | undefined },
  stored: Settings = DEFAULTS,
): Settings {
  return {
    listId: listId === undefined ? stored.listId : listId,
    schedule: schedule ?? stored.schedule,
  }
}

/**
 * Whether a caller who is bound to a project would read a repository with a token it never saw: a stored one, or the
 * operator's, which connections without a token use. Only what an unbound administrator connected may stay as it is.
 * @param same the stored connection, where it is of the same repository.
 */
export function bringsNoToken(
  caller: { projectId: string | null },
  token: string | null | undefined,
  same: { token: string | null } | undefined,
): boolean {
  if (caller.projectId === null || typeof token === 'string') return false
  if (!same) return true
  // Null takes a stored token away, and the operator's would take its place.
  return token === null && same.token !== null
}

interface ConnectionDetails extends Settings {
  id: string
  repository: string
  apiUrl: string
  token: string | null
}

/**
 * What activity says of a connection that was made or changed; undefined when nothing changed. Of tokens only that
 * there is one, and that it was set or removed.
 */
export function connectionActivity(
  before: ConnectionDetails | undefined,
  after: ConnectionDetails,
  isTokenGiven: boolean,
): { type: 'connection.created' | 'connection.updated'; metadata: Record<string, unknown> } | undefined {
  const { id: connectionId, repository, apiUrl, listId, schedule, token } = after
  const about = { connectionId, repository, apiUrl }
  const hasToken = token !== null
  if (!before) return { type: 'connection.created', metadata: { ...about, listId, schedule, hasToken } }
  const isTokenChanged = hasToken ? isTokenGiven : before.token !== null
  const changes = {
    ...changesBetween(before, after, ['repository', 'apiUrl', 'listId', 'schedule']),
    ...(isTokenChanged && { token: hasToken ? 'changed' : 'removed' }),
  }
  return isNoChange(changes) ? undefined : { type: 'connection.updated', metadata: { ...about, changes } }
}
