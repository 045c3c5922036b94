import type { StoredTask } from './task.ts'

/** For each task the tasks that it is blocked by. */
export type Blockers = Map<string, string[]>

/** Why a task can't be blocked by one of the tasks of a request. */
export interface RefusedBlocker {
  /** Its position in the request. */
  index: number
  code: 'task_not_found' | 'other_project' | 'itself'
  message: string
}

/** As they are stored: each once, in the order of the request. */
export const distinctIds = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))]

/**
 * Decides which tasks of a request a task can't be blocked by. Unless it moves to another project, those that it was
 * blocked by before stay, whatever became of them: a client can send back what it has read.
 * @param projectOf the project of each task of the request that exists and is not deleted.
 */
export function refusedBlockers(
  requested: string[],
  {
    task,
    projectId,
    projectOf,
  }: {
    /** Undefined if it is still to be created. */
    task?: Pick<StoredTask, 'id' | 'projectId' | 'blockedBy'> | undefined
    /** The project that it is in afterwards. */
    projectId: string
    projectOf: Map<string, string>
  },
): RefusedBlocker[] {
  const before = new Set(task?.projectId === projectId ? task.blockedBy : [])
  return requested.flatMap((requestedId, index): RefusedBlocker[] => {
    const id = requestedId.toLowerCase()
    if (before.has(id)) return []
    if (id === task?.id) return [{ index, code: 'itself', message: `Task ${id} can’t be blocked by itself.` }]
    const itsProject = projectOf.get(id)
    if (itsProject === undefined) return [{ index, code: 'task_not_found', message: `Task ${id} not found.` }]
    if (itsProject === projectId) return []
    const message = `Task ${id} is in another project. A task can only be blocked by tasks of its own project.`
    return [{ index, code: 'other_project', message }]
  })
}

/**
 * A cycle, each task of which is blocked by the next, and the last by the first: the shortest that begins with one of the
 * given tasks. Undefined if there is none. Takes time in proportion to the tasks and their blockers.
 */
export function findCycle(blockers: Blockers, among: string[]): string[] | undefined {
  const onCycle = anyCycle(blockers, among)
  const first = among.find((id) => onCycle.has(id))
  return first === undefined ? undefined : shortestWay(blockers, first)
}

/** The tasks of some cycle that can be reached from these; empty if there is none. */
function anyCycle(blockers: Blockers, from: string[]): Set<string> {
  const visited = new Set<string>()
  for (const start of from) {
    // The way to the task that is looked at, each with those of its blockers that are still to be looked at.
    const way: { id: string; left: Iterator<string> }[] = []
    const onWay = new Set<string>()
    const enter = (id: string) => {
      visited.add(id)
      onWay.add(id)
      way.push({ id, left: (blockers.get(id) ?? []).values() })
    }
    if (!visited.has(start)) enter(start)
    for (let last = way.at(-1); last; last = way.at(-1)) {
      const { done, value: next } = last.left.next()
      if (done) {
        onWay.delete(last.id)
        way.pop()
      } else if (onWay.has(next))
        return new Set(way.slice(way.findIndex(({ id }) => id === next)).map(({ id }) => id))
      else if (!visited.has(next)) enter(next)
    }
  }
  return new Set()
}

/** From a task back to itself. */
function shortestWay(blockers: Blockers, start: string): string[] | undefined {
  const before = new Map<string, string>()
  const queue = [start]
  for (const id of queue) {
    for (const next of blockers.get(id) ?? []) {
      if (next === start) return wayTo(id, before)
      if (before.has(next)) continue
      before.set(next, id)
      queue.push(next)
    }
  }
  return undefined
}

function wayTo(end: string, before: Map<string, string>): string[] {
  const way = [end]
  for (let id = before.get(end); id !== undefined; id = before.get(id)) way.unshift(id)
  return way
}
