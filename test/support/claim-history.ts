/** A call that one of many callers made, with the times between which the service has decided it. */
export interface ClaimEvent {
  kind: 'claim' | 'write' | 'renewal' | 'end' | 'expiry'
  taskId: string
  /** Of the claim that was made, or under which the call was made. */
  number: number
  sentAt: number
  returnedAt: number
  /** Of the task after a claim or a write. */
  version?: number
}

/** One line for each way in which the recorded calls contradict that a task is claimed by one caller at a time. */
export function contradictionsIn(events: ClaimEvent[]): string[] {
  return [...Map.groupBy(events, ({ taskId }) => taskId).values()].flatMap(contradictionsOfTask)
}

function contradictionsOfTask(events: ClaimEvent[]): string[] {
  const claims = events.filter(({ kind }) => kind === 'claim').sort(byNumber)
  const ofNumber = Map.groupBy(events, ({ number }) => number)
  const found: string[] = []
  for (const [index, claim] of claims.entries()) {
    const next = claims[index + 1]
    const about = `claim ${claim.number} of task ${claim.taskId}`
    if (next?.number === claim.number) found.push(`${about} was made twice`)
    const under = ofNumber.get(claim.number) ?? []
    const ends = under.filter(({ kind }) => kind === 'end' || kind === 'expiry')
    if (next && !ends.some(({ sentAt }) => sentAt < next.returnedAt))
      found.push(`${about} was followed by claim ${next.number}, and nothing had ended it`)
    const endedBy = Math.min(...ends.map(({ returnedAt }) => returnedAt), next?.returnedAt ?? Infinity)
    for (const { kind, sentAt, version } of under) {
      if (kind !== 'write' && kind !== 'renewal') continue
      if (sentAt > endedBy) found.push(`a ${kind} under ${about} was accepted after its end`)
      if (kind === 'write' && !isBetween(version, { after: claim.version, before: next?.version }))
        found.push(
          `version ${version} was written under ${about}, which has ${claim.version} to ${next?.version}`,
        )
    }
  }
  const numbers = new Set(claims.map(({ number }) => number))
  // The lease of a claim whose response was lost may end, too.
  for (const { kind, number, taskId } of events)
    if (kind !== 'expiry' && !numbers.has(number))
      found.push(`a ${kind} under claim ${number} of task ${taskId}, which nobody has`)
  return found
}

const byNumber = (a: ClaimEvent, b: ClaimEvent) => a.number - b.number

const isBetween = (
  version = Number.NaN,
  { after = Number.NaN, before = Infinity }: { after: number | undefined; before: number | undefined },
) => version > after && version < before
