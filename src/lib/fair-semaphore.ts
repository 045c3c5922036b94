/** A share of the places. What has the same name counts together. */
export interface Share {
  name: string
  /** Maximum of places at the same time. */
  max: number
  /** Whether it may take the places that the others have to leave free. */
  isReserved: boolean
}

/**
 * Why there was no place in time. `busy`: others with this name took it, or nobody waits for it anymore. `stuck`: the
 * same, and nothing of anybody succeeded meanwhile. `full`: none of this name got one.
 */
export type Refusal = 'busy' | 'stuck' | 'full'

interface Wait {
  maxMs: number
  /** Whether nobody waits for the place anymore. */
  isGone?: (() => boolean) | undefined
}

interface Waiter extends Wait {
  onTurn(refusal?: Refusal): void
  timer: NodeJS.Timeout
  /** Until it came. */
  before: { given: number; completed: number }
}

interface Member {
  share: Share
  inUse: number
  /** All that were given to it so far. */
  given: number
  waiting: Set<Waiter>
}

/**
 * Gives out places. Those who wait for one take turns by name, each within its share, so that whoever asks for much
 * waits for himself.
 */
export function fairSemaphore({ places, reserved }: { places: number; reserved: number }) {
  /** Who holds a place or waits for one. */
  const members = new Map<string, Member>()
  /** Who waits, in the order of their turns. */
  const queue = new Set<Member>()
  let inUse = 0
  let unreservedInUse = 0
  /** Places that were given back after their work had succeeded. */
  let completed = 0

  return {
    /** Calls back with a place, at once if there is one, or with why there is none. */
    take(share: Share, { onTurn, ...wait }: Wait & { onTurn(refusal?: Refusal): void }): void {
      const member = memberOf(share)
      if (member.waiting.size === 0 && hasPlaceFor(member)) {
        give(member, onTurn)
        return
      }
      const timer = setTimeout(() => {
        end(member, waiter)
        onTurn(refusalOf(member, waiter))
      }, wait.maxMs)
      const waiter: Waiter = { ...wait, onTurn, timer, before: { given: member.given, completed } }
      member.waiting.add(waiter)
      queue.add(member)
    },

    giveBack({ name, isReserved }: Share, { hasFailed }: { hasFailed: boolean }): void {
      const member = members.get(name)
      if (!member) return
      member.inUse--
      inUse--
      if (!isReserved) unreservedInUse--
      if (!hasFailed) completed++
      for (let next = nextMember(); next; next = nextMember()) serve(next)
      forgetIdle(member)
    },

    waiting: (): number => [...queue].reduce((sum, member) => sum + member.waiting.size, 0),
  }

  function memberOf(share: Share): Member {
    const known = members.get(share.name)
    if (known) return known
    const member = { share, inUse: 0, given: 0, waiting: new Set<Waiter>() }
    members.set(share.name, member)
    return member
  }

  function hasPlaceFor({ inUse: mine, share }: Member): boolean {
    if (mine >= share.max || inUse >= places) return false
    return share.isReserved || unreservedInUse < places - reserved
  }

  function nextMember(): Member | undefined {
    for (const member of queue) if (hasPlaceFor(member)) return member
    return undefined
  }

  function serve(member: Member): void {
    const [waiter] = member.waiting
    if (!waiter) return
    end(member, waiter)
    // Its next turn comes after those of all others.
    if (queue.delete(member)) queue.add(member)
    if (waiter.isGone?.()) waiter.onTurn('busy')
    else give(member, waiter.onTurn)
  }

  function end(member: Member, waiter: Waiter): void {
    clearTimeout(waiter.timer)
    member.waiting.delete(waiter)
    if (member.waiting.size === 0) queue.delete(member)
    forgetIdle(member)
  }

  function give(member: Member, onTurn: () => void): void {
    members.set(member.share.name, member)
    member.inUse++
    member.given++
    inUse++
    if (!member.share.isReserved) unreservedInUse++
    onTurn()
  }

  function forgetIdle({ share, inUse: mine, waiting }: Member): void {
    if (mine === 0 && waiting.size === 0) members.delete(share.name)
  }

  function refusalOf(member: Member, { before }: Waiter): Refusal {
    if (member.inUse === 0 && member.given === before.given) return 'full'
    return completed > before.completed ? 'busy' : 'stuck'
  }
}
