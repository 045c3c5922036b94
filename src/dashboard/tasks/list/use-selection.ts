import { useMemo, useRef, useState } from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import type { TaskGroups } from './grouping.ts'

export interface Selection {
  ids: ReadonlySet<string>
  /** Those of the selected rows, or all tasks that match. */
  tasks: TaskListItem[]
  /** All tasks that match the filters, also those that the list has not loaded; until a row of them is not selected. */
  matching: TaskListItem[] | undefined
  toggle(id: string, isRange: boolean): void
  /** Selects the rows from one to another; again from there, it moves the end of the range. */
  extend(fromId: string, toId: string): void
  selectAll(): void
  clear(): void
  /** Selects these as well. */
  add(ids: string[]): void
  selectMatching(tasks: TaskListItem[]): void
}

interface Matching {
  tasks: TaskListItem[]
  /** The most of them that were selected in the list. */
  listed: number
}

interface Range {
  anchorId: string
  endId: string
  /** Selected besides the range. */
  others: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

/** The selected rows, with the tasks that they stand for; shift selects a range. */
export function useSelection({ rows, tasksOf }: TaskGroups): Selection {
  const [ids, setIds] = useState(NONE)
  const range = useRef<Range>(undefined)
  // A task that was deleted or moved away is selected no longer.
  const present = useMemo(() => {
    const shown = new Set(rows.map(({ id }) => id))
    return new Set([...ids].filter((id) => shown.has(id)))
  }, [ids, rows])
  const [matching, setMatching] = useState<Matching>()
  if (matching && present.size > matching.listed) setMatching({ ...matching, listed: present.size })
  // A row that is no longer selected, or gone, ends it.
  if (matching && present.size < matching.listed) setMatching(undefined)
  const latest = useRef({ rows, present })
  latest.current = { rows, present }

  const functions = useMemo(() => {
    function extendTo(toId: string) {
      const { anchorId, others } = range.current as Range
      const { rows } = latest.current
      const from = rows.findIndex(({ id }) => id === anchorId)
      const to = rows.findIndex(({ id }) => id === toId)
      const inside = from < 0 ? [] : rows.slice(Math.min(from, to), Math.max(from, to) + 1)
      setIds(new Set([...others, ...inside.map(({ id }) => id), toId]))
      range.current = { anchorId, endId: toId, others }
    }
    const add = (more: string[]) => setIds((before) => new Set([...before, ...more]))
    return {
      toggle(id: string, isRange: boolean) {
        if (isRange && range.current) return extendTo(id)
        const others = new Set(latest.current.present)
        if (!others.delete(id)) others.add(id)
        setIds(others)
        range.current = { anchorId: id, endId: id, others }
      },
      extend(fromId: string, toId: string) {
        const continues = range.current?.endId === fromId && latest.current.present.has(fromId)
        if (!continues) range.current = { anchorId: fromId, endId: fromId, others: latest.current.present }
        extendTo(toId)
      },
      selectAll: () => setIds(new Set(latest.current.rows.map(({ id }) => id))),
      clear: () => setIds(NONE),
      add,
      selectMatching(tasks: TaskListItem[]) {
        add(tasks.map(({ id }) => id))
        setMatching({ tasks, listed: latest.current.present.size })
      },
    }
  }, [])
  return useMemo(() => {
    const tasks =
      matching?.tasks ?? (present.size > 0 ? rows.filter(({ id }) => present.has(id)).flatMap(tasksOf) : [])
    return { ids: present, tasks, matching: matching?.tasks, ...functions }
  }, [present, rows, tasksOf, matching, functions])
}
