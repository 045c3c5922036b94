import { changesBetween, isNoChange } from '../changes.ts'

type Schedule = 'off' | 'hourly' | 'daily'

interface Settings {
  listId: string | null
  schedule: Schedule
}

const DEFAULTS: Settings = { listId: null, schedule: 'hourly' }

/** Omitted fields keep their stored values; a first connection uses the defaults. */
export function settingsOf(
  { listId, schedule }: { [member in keyof Settings]?: Settings[member] | undefined },
  stored: Settings = DEFAULTS,
): Settings {
  return {
    listId: listId === undefined ? stored.listId : listId,
    schedule: schedule ?? stored.schedule,
  }
}

/**
 * Whether a caller bound to a project would read a repository with a token it does not know: a stored one, or the
 * operator's for connections without a token. Only a connection of an unbound administrator may stay.
 * @param same the stored connection, if it is of the same repository.
 */
export function bringsNoToken(
  caller: { projectId: string | null },
  { token, same }: { token: string | null | undefined; same: { token: string | null } | undefined },
): boolean {
  if (caller.projectId === null || typeof token === 'string') return false
  if (!same) return true
  // `null` removes the stored token, and the operator's token would be used instead.
  return token === null && same.token !== null
}

interface ConnectionDetails extends Settings {
  id: string
  repository: string
  apiUrl: string
  token: string | null
}

/**
 * The activity of a created or changed connection; undefined when nothing changed. Of tokens it says only that one
 * exists, was set or was removed.
 */
export function connectionActivity({
  before,
  after,
  isTokenGiven,
}: {
  before: ConnectionDetails | undefined
  after: ConnectionDetails
  isTokenGiven: boolean
}): { type: 'connection.created' | 'connection.updated'; metadata: Record<string, unknown> } | undefined {
  const { id: connectionId, repository, apiUrl, listId, schedule, token } = after
  const about = { connectionId, repository, apiUrl }
  const hasToken = token !== null
  if (!before) return { type: 'connection.created', metadata: { ...about, listId, schedule, hasToken } }
  const isTokenChanged = hasToken ? isTokenGiven : before.token !== null
  const changes = {
    ...changesBetween({ before, after, names: ['repository', 'apiUrl', 'listId', 'schedule'] }),
    ...(isTokenChanged && { token: hasToken ? 'changed' : 'removed' }),
  }
  return isNoChange(changes) ? undefined : { type: 'connection.updated', metadata: { ...about, changes } }
}
