import { sql } from '../../db/drizzle.ts'
import { sourceItems } from '../../db/tables/sources.ts'
import type { LatestItem } from '../../domain/sources/repeats.ts'
import { databaseTime } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'

/** The item that last had a key. All members but the key are null before the first one is written. */
export interface SourceItemRow extends LatestItem {
  sourceId: string
  key: string
  deliveryId: string | null
  taskId: string | null
  receivedAt: Date | null
}

type ItemKey = Pick<SourceItemRow, 'sourceId' | 'key'>

interface WrittenSourceItem extends ItemKey {
  hash: string
  deliveryId: string
  taskId: string
}

/** What the sources sent last: their callers know that the sources are in their reach. */
export function sourceItemsRepository(db: Executor) {
  return {
    /**
     * Locks keys until the transaction ends, in the same order everywhere. Recent is what arrived at most ten seconds
     * before or after `sentAt`, or else before now.
     */
    async lock(keys: ItemKey[], sentAt?: Date): Promise<SourceItemRow[]> {
      if (keys.length === 0) return []
      const distinct = [...new Map(keys.map((key) => [`${key.sourceId} ${key.key}`, key])).values()]
      const at = sentAt ? sql`${sentAt.toISOString()}::timestamptz` : databaseTime
      const { rows } = await db.execute<
        Omit<SourceItemRow, 'receivedAt'> & { receivedAt: string | null }
      >(sql`
        insert into ${sourceItems} (source_id, key)
        select source_id, key from unnest(${sql.param(distinct.map(({ sourceId }) => sourceId))}::uuid[],
          ${sql.param(distinct.map(({ key }) => key))}::text[]) as item (source_id, key) order by source_id, key
        on conflict (source_id, key) do update set key = excluded.key
        returning source_id as "sourceId", key, hash, delivery_id as "deliveryId", task_id as "taskId",
          received_at as "receivedAt",
          coalesce(received_at between ${at} - interval '10 seconds' and ${at} + interval '10 seconds', false)
            as "isRecent"`)
      return rows.map(({ receivedAt, ...row }) => ({
        ...row,
        receivedAt: receivedAt ? new Date(receivedAt) : null,
      }))
    },

    /** Writes the items that have locked keys now. One without an external ID does not replace a later one. */
    async write(items: WrittenSourceItem[], sentAt?: Date): Promise<void> {
      if (items.length === 0) return
      const at = sentAt ? sql`${sentAt.toISOString()}::timestamptz` : databaseTime
      await db.execute(sql`
        update ${sourceItems} set hash = item.hash, delivery_id = item."deliveryId", task_id = item."taskId",
          received_at = ${at}
        from json_to_recordset(${JSON.stringify(items)}::json) as item("sourceId" uuid, key text, hash text,
          "deliveryId" uuid, "taskId" uuid)
        where ${sourceItems.sourceId} = item."sourceId" and ${sourceItems.key} = item.key
          and (item.key like 'id:%' or received_at is null or received_at <= ${at})`)
    },
  }
}
