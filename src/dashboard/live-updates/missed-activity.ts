import { api, dataOf } from '../api/client.ts'
import { type Activity, cursorParam, fetchAllPages } from '../api/queries.ts'

/** A transaction committed after a time may contain earlier timestamps. */
export const OVERLAP_MS = 5_000
const MAX_PAGES = 5

/**
 * The activity log since a time of the service's clock, oldest first; undefined above the page limit.
 * @throws Problem
 */
export async function fetchActivitySince(since: number): Promise<Activity[] | undefined> {
  const from = new Date(since - OVERLAP_MS).toISOString()
  const activity = await fetchAllPages((cursor) => {
    const query = { since: from, limit: 200, ...cursorParam(cursor) }
    return dataOf(api.GET('/api/activity', { params: { query } }))
  }, MAX_PAGES)
  return activity?.reverse()
}
