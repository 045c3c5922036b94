import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { isHidden, type TaskFilters, type TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { openTaskId } from '../open-task.ts'
import type { Cursor } from './use-cursor.ts'

interface AdvanceOptions {
  rows: TaskListItem[]
  filters: TaskFilters
  cursor: Cursor
  moveTo(id: string, options: { index: number; takesFocus: boolean }): void
  /** Of the open task, when none is left. */
  close(): void
}

/**
 * Moves the highlight on when its row leaves the list, and the open task with it. The returned function does so at once, for
 * tasks that are being changed: the next key may come before the list is rendered.
 */
export function useAdvance(options: AdvanceOptions) {
  const { rows, filters, cursor } = options
  const records = recordsOf(useQueryClient())
  const lastIndex = useRef(0)
  /** Whether any decision takes a task off the list. */
  const isTriage = filters.triaged === false

  function leave(changedIds: string[], { takesFocus }: { takesFocus: boolean }) {
    const changed = new Set(changedIds)
    const stays = ({ id }: TaskListItem) => {
      const task = records.row(id)
      return task !== undefined && !changed.has(id) && !isHidden(filters, task)
    }
    const current = openTaskId() ?? cursor.id()
    const index = rows.findIndex(({ id }) => id === current)
    const from = index < 0 ? lastIndex.current : index
    const nextIndex = rows.findIndex((row, at) => at >= from && stays(row))
    const newIndex = nextIndex < 0 ? rows.findLastIndex(stays) : nextIndex
    const next = rows[newIndex]
    if (next?.id === current) return
    if (next) return options.moveTo(next.id, { index: newIndex, takesFocus })
    cursor.moveTo(undefined)
    if (openTaskId()) options.close()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: after each render that changed the rows.
  useEffect(() => {
    const openId = openTaskId()
    const current = openId ?? cursor.id()
    const index = rows.findIndex(({ id }) => id === current)
    if (index >= 0) {
      lastIndex.current = index
      return
    }
    const task = current === undefined ? undefined : records.row(current)
    if (!isTriage && !(task && isHidden(filters, task))) return
    // What others have changed stays open.
    if (!openId || records.isBeingSaved(openId)) leave([], { takesFocus: !isBusyElsewhere() })
  }, [rows])

  return (changedIds: string[], { isSnooze = false } = {}) => {
    if (isTriage || isSnooze) leave(changedIds, { takesFocus: true })
  }
}

/** Whether the focus is where somebody types or chooses. */
const isBusyElsewhere = () =>
  document.activeElement?.closest('input, textarea, select, dialog, [role="dialog"], [role="menu"]') != null
