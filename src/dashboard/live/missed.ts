import { answerOf, api } from '../api/client.ts'
import type { Activity } from '../api/queries.ts'

/** What was written down just before a time may carry an earlier one, for it was not yet done. */
export const OVERLAP_MS = 5_000
/** More than this is not read entry by entry. */
const MOST_PAGES = 5

/**
 * The record since a time of the service's clock, oldest first; undefined when it is too long to be worth reading.
 * @throws Problem
 */
export async function entriesSince(since: number): Promise<Activity[] | undefined> {
  const entries: Activity[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { since: new Date(since - OVERLAP_MS).toISOString(), limit: 200, ...(cursor && { cursor }) }
    const { data, nextCursor } = await answerOf(api.GET('/api/activity', { params: { query } }))
    entries.push(...data)
    if (nextCursor === null) return entries.reverse()
    cursor = nextCursor
  }
  return undefined
}
