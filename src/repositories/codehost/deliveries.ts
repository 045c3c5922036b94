import { isDatabaseAway, violates, withoutValues } from '../../db/database-error.ts'
import { codehostDeliveries } from '../../db/tables/codehost.ts'
import { AppError } from '../../errors/index.ts'
import type { Executor } from '../index.ts'

export type DeliveryRow = typeof codehostDeliveries.$inferSelect

/** The inbox of the push receiver, by connection: its callers know that the connection is in their reach. */
export function codehostDeliveriesRepository(db: Executor) {
  return {
    /** Removes payloads from the errors of `work`, which are logged. */
    async redacted<T>(work: () => Promise<T>): Promise<T> {
      return work().catch((error) => {
        throw error instanceof AppError || isDatabaseAway(error) ? error : withoutValues(error)
      })
    },

    /** Stores a delivery, unless it is known: a redelivery changes nothing. */
    async insert(row: DeliveryRow): Promise<'stored' | 'known' | 'disconnected'> {
      try {
        const rows = await db
          .insert(codehostDeliveries)
          .values(row)
          .onConflictDoNothing()
          .returning({ id: codehostDeliveries.id })
        return rows.length > 0 ? 'stored' : 'known'
      } catch (error) {
        if (violates(error, 'codehost_deliveries_connection_id_codehost_connections_id_fk'))
          return 'disconnected'
        throw error
      }
    },
  }
}
