import type { ConnectedProject, World } from './world.ts'

const SETTINGS = ['off', 'state', 'comments'] as const
export type WriteBack = (typeof SETTINGS)[number]

/**
 * What was changed here and is never written, because write-back was off, or given up when it was turned off or the
 * repository was disconnected: the code host need not have it.
 */
export interface Unwritten {
  tasks: Set<string>
  comments: Set<string>
}

export const nothingUnwritten = (): Unwritten => ({ tasks: new Set(), comments: new Set() })

/** Notes a change that the settings of a project exclude from being written. */
export function noteChange(
  { connection, writeBack, unwritten }: ConnectedProject,
  { taskId, commentId }: { taskId?: string; commentId?: string | undefined },
): void {
  if (taskId !== undefined && (!connection || writeBack === 'off')) unwritten.tasks.add(taskId)
  if (commentId !== undefined && (!connection || writeBack !== 'comments')) unwritten.comments.add(commentId)
}

/** Turns write-back on, off, or to the state only, as an administrator does. */
export async function changeWriteBack(world: World, project: ConnectedProject, nth: number): Promise<void> {
  if (!project.connection) return
  await noteGivenUp(world, project)
  const { id: projectId, repository, caller } = project
  const writeBack = SETTINGS[nth % SETTINGS.length] ?? 'off'
  // Refused while the token has no access.
  if (await world.codehost.connect(caller, { projectId, input: { repository, writeBack } }))
    project.writeBack = writeBack
  await noteGivenUp(world, project)
}

/** Disconnects the repository, or connects it again. */
export async function disconnectOrConnect(world: World, project: ConnectedProject): Promise<void> {
  if (!project.connection) return connectAgain(world, project)
  await noteGivenUp(world, project)
  project.connection = undefined
  await world.codehost.disconnect(project.caller, project.id)
}

/** Takes the access of the project's token to the repository, which is private then, or gives it back. */
export function loseOrRegainAccess({ host }: Pick<World, 'host'>, { token, login }: ConnectedProject): void {
  const hasAccess = host.tokens.get(token)?.repositories === undefined
  host.tokens.set(token, { login, ...(hasAccess && { repositories: [] }) })
}

/** Connected, with access, and with write-back of everything. */
export async function turnAllOn(world: World, project: ConnectedProject): Promise<void> {
  world.host.tokens.set(project.token, { login: project.login })
  if (!project.connection) await connectAgain(world, project)
  if (project.writeBack !== 'comments') await changeWriteBack(world, project, SETTINGS.indexOf('comments'))
}

async function connectAgain({ codehost, host }: World, project: ConnectedProject): Promise<void> {
  const { id: projectId, repository, caller, token, repositoryId } = project
  const input = {
    repository,
    token,
    apiUrl: host.url,
    schedule: 'off',
    comments: true,
    writeBack: 'comments',
  } as const
  const connected = await codehost.connect(caller, { projectId, input })
  if (!connected) return
  const { id } = connected
  project.writeBack = input.writeBack
  project.connection = { id, projectId, repositoryId, comments: true }
}

/** Before and after a change of the settings: a worker may be sending some of it meanwhile. */
async function noteGivenUp({ query }: World, { connection, unwritten }: ConnectedProject): Promise<void> {
  const rows: { task_id: string; comment_id: string | null }[] = await query(
    `select task_id, comment_id from codehost_writes where connection_id = $1 and status <> 'done'`,
    [connection?.id],
  )
  for (const { task_id, comment_id } of rows) {
    if (comment_id === null) unwritten.tasks.add(task_id)
    else unwritten.comments.add(comment_id)
  }
}
