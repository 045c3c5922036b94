import type { ItemDecision } from './task.ts'

const COUNTED = ['created', 'updated', 'closed', 'reopened', 'unchanged'] as const
type Counted = (typeof COUNTED)[number]

/** The outcome of an item in one run. */
export type Outcome = ItemDecision['outcome']

/** The counts of a run. Each item counts once, so the parts always add up to `fetched`. */
export interface Tally {
  fetched: number
  counts: Record<'issues' | 'pullRequests', Record<Counted, number>> & {
    /** How many of the created tasks are done; absent in runs from before this was counted. */
    createdDone?: number
    /** Absent in runs without comments. */
    comments?: CommentCounts
  }
  skipped: { number: number; reason: string }[]
}

/** The comments that a run created, updated and deleted. */
export interface CommentCounts {
  created: number
  updated: number
  deleted: number
}

export const emptyTally = (): Tally => ({
  fetched: 0,
  counts: { issues: zeroCounts(), pullRequests: zeroCounts(), createdDone: 0 },
  skipped: [],
})

/** The strongest outcome of an item counts; of two equally strong ones, the later. */
const STRENGTH: Record<Outcome, number> = {
  created: 5,
  closed: 4,
  reopened: 4,
  updated: 3,
  unchanged: 2,
  skipped: 1,
}

/**
 * Adds a page. An item that the run has already seen, because it changed or pages overlap, is not counted again.
 * @param seen earlier outcomes in this run of the page's items.
 * @returns the new counts, and the outcomes to store.
 */
export function tallied(
  before: Tally,
  {
    seen,
    page,
  }: {
    seen: Map<number, Outcome>
    page: (Pick<ItemDecision, 'number' | 'kind' | 'outcome' | 'reason'> & { row?: { status: string } })[]
  },
): { tally: Tally; outcomes: { number: number; outcome: Outcome }[] } {
  const tally = structuredClone(before)
  const outcomes = page.flatMap(({ number, kind, outcome, reason, row }) => {
    const previous = seen.get(number)
    tally.counts.createdDone =
      (tally.counts.createdDone ?? 0) + createdDoneBy(outcome, { previous, status: row?.status })
    if (previous && STRENGTH[outcome] < STRENGTH[previous]) return []
    if (previous === outcome) return []
    if (previous === undefined) tally.fetched++
    const counts = tally.counts[kind === 'issue' ? 'issues' : 'pullRequests']
    if (previous === 'skipped') tally.skipped = tally.skipped.filter((item) => item.number !== number)
    else if (previous) counts[previous]--
    if (outcome === 'skipped') tally.skipped.push({ number, reason: reason ?? 'deleted_here' })
    else counts[outcome]++
    return { number, outcome }
  })
  return { tally, outcomes }
}

/** Adds the comments of a page. */
export function withComments(
  { created, updated, deleted }: CommentCounts = { created: 0, updated: 0, deleted: 0 },
  { written, gone }: { written: { outcome: string }[]; gone: number },
): CommentCounts {
  const count = (outcome: string) => written.filter((each) => each.outcome === outcome).length
  return {
    created: created + count('created'),
    updated: updated + count('updated'),
    deleted: deleted + gone,
  }
}

/** A created item may be closed or reopened when the same run sees it again. */
function createdDoneBy(
  outcome: Outcome,
  { previous, status }: { previous: Outcome | undefined; status: string | undefined },
): number {
  if (previous !== 'created') return outcome === 'created' && status === 'done' ? 1 : 0
  return outcome === 'closed' ? 1 : outcome === 'reopened' ? -1 : 0
}

function zeroCounts(): Record<Counted, number> {
  return { created: 0, updated: 0, closed: 0, reopened: 0, unchanged: 0 }
}
