import type { ItemTask } from '../../domain/sources/reading.ts'
import { isRepeat, itemKeysOf, type LatestItem } from '../../domain/sources/repeats.ts'
import type { SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { OmissionReason, WrittenItem } from './tasks.ts'

/** The latest item with a key. A new one becomes it, and gets its task when that is written. */
interface KnownItem extends LatestItem {
  deliveryId: string | null
  taskId: string | null
  /** Why a new one has no task. */
  omitted?: OmissionReason
}

export interface JudgedItem {
  item: ItemTask
  key: string
  latest: KnownItem
  /** Whether it is new; otherwise it repeats the latest one. */
  isNew: boolean
}

interface ItemsOfDelivery {
  row: Pick<SourceDeliveryRow, 'id' | 'sourceId' | 'dedupKey'>
  tasks: ItemTask[]
}

interface Sent {
  /** When deliveries arrived that are processed later; absent for those that arrive now. */
  sentAt?: Date | undefined
}

/**
 * Decides which items of deliveries are repeats, and locks their keys until the transaction ends: of equal ones that arrive
 * at the same time, on any instance, only one is new. All items of a delivery that has an id of its sender are new, because
 * the id has been compared. So are those of a replay that have an external ID: it applies them again.
 * @returns the items by the id of the delivery
 */
export async function judgeItems(
  { sourceItems }: Pick<BoundRepositories, 'sourceItems'>,
  { deliveries, sentAt, isReplay = false }: { deliveries: ItemsOfDelivery[]; isReplay?: boolean } & Sent,
): Promise<Map<string, JudgedItem[]>> {
  const keyed = deliveries.map(({ row, tasks }) => ({ row, tasks, keys: itemKeysOf(tasks) }))
  const locked = await sourceItems.lock(
    keyed.flatMap(({ row: { sourceId }, keys }) => keys.map((key) => ({ sourceId, key }))),
    sentAt,
  )
  const known = new Map<string, KnownItem>(locked.map((row) => [nameOf(row), row]))
  return new Map(
    keyed.map(({ row: { id, sourceId, dedupKey }, tasks, keys }) => {
      const items = tasks.map((item, index): JudgedItem => {
        const key = keys[index] ?? ''
        const name = nameOf({ sourceId, key })
        const before = known.get(name)
        const isApplied = dedupKey !== null || (isReplay && item.task.externalId !== undefined)
        if (!isApplied && before && isRepeat(item, before)) return { item, key, latest: before, isNew: false }
        const latest = { hash: item.hash, isRecent: true, deliveryId: id, taskId: null }
        known.set(name, latest)
        return { item, key, latest, isNew: true }
      })
      return [id, items]
    }),
  )
}

/** What writing a new item made; its repeats in the same batch get it, too. Undefined if it has no task. */
export function resultIn(latest: KnownItem, result: WrittenItem | OmissionReason): WrittenItem | undefined {
  const task = typeof result === 'string' ? undefined : result
  latest.taskId = task?.taskId ?? null
  if (typeof result === 'string') latest.omitted = result
  return task
}

/** Writes the new items that have a task now; the others may be sent again. */
export async function rememberItems(
  { sourceItems }: Pick<BoundRepositories, 'sourceItems'>,
  { judged, sentAt }: { judged: { sourceId: string; items: JudgedItem[] }[] } & Sent,
): Promise<void> {
  const latest = new Map(
    judged.flatMap(({ sourceId, items }) =>
      items.flatMap(({ key, isNew, latest: { hash, deliveryId, taskId } }) =>
        isNew && hash && deliveryId && taskId
          ? [[nameOf({ sourceId, key }), { sourceId, key, hash, deliveryId, taskId }] as const]
          : [],
      ),
    ),
  )
  await sourceItems.write([...latest.values()], sentAt)
}

const nameOf = ({ sourceId, key }: { sourceId: string; key: string }) => `${sourceId} ${key}`
