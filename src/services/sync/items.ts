import type { CodehostItem } from '../../domain/codehost/item.ts'
import { isBeforeListed, type SyncPosition } from '../../domain/codehost/progress.ts'
import { type ItemDecision, importItem, skipItem, updateFromItem } from '../../domain/codehost/task.ts'
import type { WriteError } from '../../domain/codehost/write-back.ts'
import type { Clock } from '../../lib/clock.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import { activityRow } from '../activity/row.ts'

interface ItemsWrite {
  clock: Clock
  connection: ConnectionRow
  items: CodehostItem[]
  /** Before they were requested, unless something else proves that they are not older than what is stored. */
  asOf?: Snapshot | undefined
}

/** Writes items as tasks, with their activity, whoever brings them. The connection is locked. */
export async function writeItems(
  repos: BoundRepositories,
  { clock, connection, items, asOf }: ItemsWrite,
): Promise<ItemDecision[]> {
  const destination = await destinationOf(repos, connection)
  const decisions = await decide(repos, { clock, connection, destination, items, asOf })
  await repos.codehostLabels.save(
    connection.projectId,
    items.flatMap(({ labelColors }) => labelColors),
  )
  for (const slice of slicesBySize(decisions, {
    maxSize: MAX_CHARACTERS,
    sizeOf: ({ row }) => row?.description?.length ?? 0,
  })) {
    await repos.syncedTasks.upsert(
      slice.flatMap(({ row }) => row ?? []),
      slice.flatMap((decision) => activityOf(clock, { connection, decision })),
    )
  }
  await endWrites(repos, decisions)
  await repos.codehostWrites.resumeGone(decisions.flatMap(({ row, isBack }) => (isBack && row ? row.id : [])))
  return decisions
}

/** An item that is no longer listed, and why. */
export interface GoneItem {
  number: number
  sourceState: 'transferred' | 'deleted'
}

interface Gone {
  clock: Clock
  connection: ConnectionRow
  item: GoneItem
}

/** Marks the task of an item that no longer exists at the host; returns it, or undefined if nothing changed. */
export async function markGone(
  repos: BoundRepositories,
  {
    clock,
    connection: { id, projectId, repositoryId, repository: name },
    item: { number, sourceState },
  }: Gone,
): Promise<{ id: string } | undefined> {
  const now = clock.now()
  const task = await repos.syncedTasks.markGone(projectId, { repositoryId, number, sourceState, now })
  if (!task) return undefined
  const metadata = { changes: { sourceState: { from: 'present', to: sourceState } } }
  const about = { taskId: task.id, projectId, metadata }
  const actor = { type: 'codehost' as const, id, name }
  await repos.activity.insert([activityRow(clock, { now, type: 'task.updated', actor, ...about })])
  return task
}

/** Stores the current name of the repository, if it is another one. */
export async function saveName(
  repos: BoundRepositories,
  { clock, connection, repository }: { clock: Clock; connection: ConnectionRow; repository: string },
): Promise<void> {
  const { id, projectId, apiUrl, repository: from } = connection
  if (repository === from) return
  await repos.codehost.update(id, { repository })
  const changes = { repository: { from, to: repository } }
  const about = { projectId, metadata: { connectionId: id, repository, apiUrl, changes } }
  const actor = { type: 'codehost' as const, id, name: repository }
  await repos.activity.insert([
    activityRow(clock, { now: clock.now(), type: 'connection.updated', actor, ...about }),
  ])
  await repos.configurationChanges.announceProject(projectId)
}

/** Where new tasks go. A list that is being deleted accepts none. */
async function destinationOf(
  { lists }: BoundRepositories,
  { listId }: ConnectionRow,
): Promise<DestinationRow> {
  const destination =
    (listId && (await lists.findDestination(listId))) || (await lists.findDestination(undefined))
  if (!destination) throw new Error('The project has no default list.')
  return destination
}

async function decide(
  repos: BoundRepositories,
  {
    clock,
    connection: { id, projectId, repositoryId, repository: name, writeBack, position, connectedAt },
    destination,
    items,
    asOf,
  }: ItemsWrite & { destination: DestinationRow },
): Promise<ItemDecision[]> {
  const numbers = items.map(({ number }) => number)
  const rows = await repos.syncedTasks.listKnownForUpdate(projectId, { repositoryId, numbers, asOf })
  const known = new Map(rows.map((row) => [row.codehostNumber, row]))
  const unknown = numbers.filter((number) => !known.has(number))
  const purged = new Set(await repos.syncedTasks.listPurged(projectId, { repositoryId, numbers: unknown }))
  const now = clock.now()
  const actor = { type: 'codehost' as const, id, name }
  // Cast: only positions are written to the column.
  const isListing = isBeforeListed(position as SyncPosition | null)
  const states =
    writeBack === 'off' ? [] : await repos.codehostWrites.listUnwrittenStates(rows.map(({ id }) => id))
  const unwritten = new Map(states.map((write) => [write.taskId, write]))
  return items.map((item) => {
    const row = known.get(item.number)
    if (row) {
      const { isStoredSince, ...task } = row
      const { isTriageOn } = destination
      return updateFromItem(task, {
        item,
        now,
        unwritten: unwritten.get(task.id),
        isTriageOn,
        isStoredSince,
      })
    }
    if (purged.has(item.number)) return skipItem(item)
    const predatesConnection = isListing && !(item.openedAt && item.openedAt > connectedAt)
    return importItem(item, {
      id: clock.newId(now),
      now,
      destination,
      actor,
      repositoryId,
      predatesConnection,
    })
  })
}

/** Ends the writes of states that the code host has, or has changed. */
async function endWrites({ codehostWrites }: BoundRepositories, decisions: ItemDecision[]): Promise<void> {
  for (const [end, error] of Object.entries(WRITE_ENDS)) {
    const taskIds = decisions.flatMap(({ write }) => (write?.end === end ? write.taskId : []))
    await codehostWrites.endStates(taskIds, { error })
  }
}

const WRITE_ENDS = {
  settled: null,
  dropped: {
    code: 'changed_at_codehost',
    message:
      'The issue was closed or reopened at the code host meanwhile, so the change here was not written.',
  },
} satisfies Record<NonNullable<ItemDecision['write']>['end'], WriteError | null>

/** A page is one statement unless its texts are long: a statement has its rows in memory several times. */
export const MAX_CHARACTERS = 256 * 1024

function activityOf(
  clock: Clock,
  {
    connection: { id, repository: name },
    decision: { row, activities },
  }: { connection: ConnectionRow; decision: ItemDecision },
) {
  if (!row) return []
  const actor = { type: 'codehost' as const, id, name }
  return activities.map(({ type, metadata }) =>
    activityRow(clock, {
      now: row.updatedAt,
      type,
      actor,
      taskId: row.id,
      projectId: row.projectId,
      metadata: { ...metadata },
    }),
  )
}
