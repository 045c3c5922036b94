import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { isHidden, type TaskFilters, type TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { openTaskId } from '../open-task.ts'
import { areEqual, type TaskGroups } from './grouping.ts'
import type { Cursor } from './use-cursor.ts'

interface AdvanceOptions {
  groups: TaskGroups
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
  const { groups, filters, cursor } = options
  const { rows, rowIdOf } = groups
  const records = recordsOf(useQueryClient())
  /** The latest rows that have the highlighted one. */
  const lastRows = useRef<TaskListItem[]>([])
  /** Whether any decision takes a task off the list. */
  const isTriage = filters.triaged === false
  const current = () => {
    const id = openTaskId() ?? cursor.id()
    return id && rowIdOf(id)
  }
  /** Somebody has merged the highlighted task into another one of its row: others may be anywhere in the list. */
  const targetRow = () => {
    const id = cursor.id()
    const task = id === undefined ? undefined : records.row(id)
    const target = task?.mergedInto ? records.row(task.mergedInto) : undefined
    return task && target && areEqual([task, target]) ? rows[indexIn(rows, rowIdOf(target.id))] : undefined
  }

  /** Where the rows go on after one that is among them no longer. */
  function indexAfter(goneId: string | undefined): number {
    const before = lastRows.current.slice(0, Math.max(0, indexIn(lastRows.current, goneId)))
    const kept = before.findLast(({ id }) => indexIn(rows, id) >= 0)
    return kept ? indexIn(rows, kept.id) + 1 : 0
  }

  function leave(changedIds: string[], { takesFocus }: { takesFocus: boolean }) {
    const changed = new Set(changedIds)
    const stays = ({ id }: TaskListItem) => {
      const task = records.row(id)
      return task !== undefined && !changed.has(id) && !isHidden(filters, task)
    }
    const currentId = current()
    const index = indexIn(rows, currentId)
    const from = index < 0 ? indexAfter(currentId) : index
    const nextIndex = rows.findIndex((row, at) => at >= from && stays(row))
    const newIndex = nextIndex < 0 ? rows.findLastIndex(stays) : nextIndex
    const next = rows[newIndex]
    if (next?.id === currentId) return
    if (next) return options.moveTo(next.id, { index: newIndex, takesFocus })
    cursor.moveTo(undefined)
    if (openTaskId()) options.close()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: after each render that changed the rows.
  useEffect(() => {
    const openId = openTaskId()
    const currentId = current()
    if (indexIn(rows, currentId) >= 0) {
      lastRows.current = rows
      return
    }
    const target = openTaskId() ? undefined : targetRow()
    if (target) {
      lastRows.current = rows
      return cursor.moveTo(target.id)
    }
    const task = currentId === undefined ? undefined : records.row(currentId)
    if (!isTriage && !(task && isHidden(filters, task))) return
    // What others have changed stays open.
    if (!openId || records.isBeingSaved(openId)) leave([], { takesFocus: !isBusyElsewhere() })
  }, [rows])

  return (changedIds: string[], { isSnooze = false } = {}) => {
    if (isTriage || isSnooze) leave(changedIds, { takesFocus: true })
  }
}

const indexIn = (rows: TaskListItem[], taskId: string | undefined) =>
  rows.findIndex(({ id }) => id === taskId)

/** Whether the focus is where somebody types or chooses. */
const isBusyElsewhere = () =>
  document.activeElement?.closest('input, textarea, select, dialog, [role="dialog"], [role="menu"]') != null
