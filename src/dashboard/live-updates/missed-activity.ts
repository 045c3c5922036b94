import { api, dataOf } from '../api/client.ts'
import { type Activity, at, everyPage } from '../api/queries.ts'

/** What was written down just before a time may carry an earlier one, for it was not yet done. */
export const OVERLAP_MS = 5_000
/** More than this is not read entry by entry. */
const MAX_PAGES = 5

/**
 * The record since a time of the service's clock, oldest first; undefined when it is too long to be worth reading.
 * @throws Problem
 */
export async function activitySince(since: number): Promise<Activity[] | undefined> {
  const from = new Date(since - OVERLAP_MS).toISOString()
  const activity = await everyPage((cursor) => {
    const query = { since: from, limit: 200, ...at(cursor) }
    return dataOf(api.GET('/api/activity', { params: { query } }))
  }, MAX_PAGES)
  return activity?.reverse()
}
