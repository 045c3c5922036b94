import { changesBetween, isNoChange } from '../changes.ts'
import type { WriteBack } from './write-back.ts'

type Schedule = 'off' | 'hourly' | 'daily'

interface Settings {
  listId: string | null
  schedule: Schedule
  comments: boolean
  writeBack: WriteBack
}

const DEFAULTS: Settings = { listId: null, schedule: 'hourly', comments: false, writeBack: 'off' }

/** Omitted fields keep their stored values; a first connection uses the defaults. */
export function settingsOf(
  { listId, schedule, comments, writeBack }: { [member in keyof Settings]?: Settings[member] | undefined },
  stored: Settings = DEFAULTS,
): Settings {
  return {
    listId: listId === undefined ? stored.listId : listId,
    schedule: schedule ?? stored.schedule,
    comments: comments ?? stored.comments,
    writeBack: writeBack ?? stored.writeBack,
  }
}

interface ConnectionDetails extends Settings {
  id: string
  repository: string
  apiUrl: string
  token: string | null
  app: { appId: number; installationId: number } | null
}

/**
 * The activity of a created or changed connection; undefined when nothing changed. Of tokens and private keys it says
 * only that one exists, was set or was removed.
 */
export function connectionActivity({
  before,
  after,
  isReplaced,
}: {
  before: ConnectionDetails | undefined
  after: ConnectionDetails
  /** Whether a token or a GitHub App was sent. */
  isReplaced: boolean
}): { type: 'connection.created' | 'connection.updated'; metadata: Record<string, unknown> } | undefined {
  const { id: connectionId, repository, apiUrl, listId, schedule, comments, writeBack, token, app } = after
  const about = { connectionId, repository, apiUrl }
  if (!before) {
    const ids = app && { app: { appId: app.appId, installationId: app.installationId } }
    return {
      type: 'connection.created',
      metadata: { ...about, listId, schedule, comments, writeBack, hasToken: token !== null, ...ids },
    }
  }
  const changeOf = (name: 'token' | 'app') => {
    if (after[name] !== null) return isReplaced ? { [name]: 'changed' } : {}
    return before[name] !== null ? { [name]: 'removed' } : {}
  }
  const changes = {
    ...changesBetween({
      before,
      after,
      names: ['repository', 'apiUrl', 'listId', 'schedule', 'comments', 'writeBack'],
    }),
    ...changeOf('token'),
    ...changeOf('app'),
  }
  return isNoChange(changes) ? undefined : { type: 'connection.updated', metadata: { ...about, changes } }
}
