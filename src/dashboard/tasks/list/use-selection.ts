import { useCallback, useMemo, useRef, useState } from 'react'
import type { TaskListItem } from '../../api/queries.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string, isRange: boolean): void
  clear(): void
  /** Selects these as well. */
  add(ids: string[]): void
}

/** The selected rows; shift selects a range. */
export function useSelection(rows: TaskListItem[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const anchor = useRef<string>(undefined)
  const latest = useRef(rows)
  latest.current = rows

  const toggle = useCallback((id: string, isRange: boolean) => {
    setIds((before) => {
      const after = new Set(before)
      const from = latest.current.findIndex((row) => row.id === anchor.current)
      const to = latest.current.findIndex((row) => row.id === id)
      if (isRange && from >= 0) {
        for (const row of latest.current.slice(Math.min(from, to), Math.max(from, to) + 1)) after.add(row.id)
      } else if (!after.delete(id)) after.add(id)
      return after
    })
    if (!isRange) anchor.current = id
  }, [])
  const clear = useCallback(() => setIds(new Set()), [])
  const add = useCallback((more: string[]) => setIds((before) => new Set([...before, ...more])), [])
  // A task that was deleted or moved away is selected no longer.
  const present = useMemo(() => {
    const shown = new Set(rows.map(({ id }) => id))
    return new Set([...ids].filter((id) => shown.has(id)))
  }, [ids, rows])
  return useMemo(() => ({ ids: present, toggle, clear, add }), [present, toggle, clear, add])
}
