import { useEffect, useRef } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import { statusLock } from '../managed.ts'
import { tomorrow } from '../snooze-times.ts'
import type { TaskGroups } from './grouping.ts'
import type { Selection } from './use-selection.ts'

const load = preloadModule(() => import('./row-gestures.ts'))

interface RowGestures {
  isEnabled: boolean
  groups: TaskGroups
  selection: Selection
  actions: TaskActions
}

/** By touch: a swipe to the right is done, to the left snoozes until tomorrow; a long press selects. */
export function useRowGestures(options: RowGestures) {
  const latest = useRef(options)
  latest.current = options
  const { isEnabled } = options
  useEffect(() => {
    if (!isEnabled || navigator.maxTouchPoints === 0) return
    let isGone = false
    let stop = () => {}
    void load().then(({ watchRows }) => {
      if (isGone) return
      stop = watchRows((id, gesture) => {
        const { groups, selection, actions } = latest.current
        const row = groups.rows.find((row) => row.id === id)
        if (!row) return
        const tasks = groups.tasksOf(row)
        if (gesture === 'select') return selection.toggle(id, false)
        if (gesture === 'snooze')
          return void actions.change(tasks, { snoozedUntil: tomorrow(new Date(serverNow())).toISOString() })
        const lock = statusLock(tasks)
        if (lock) toast.info(lock)
        else actions.toggleDone(tasks)
      })
    })
    return () => {
      isGone = true
      stop()
    }
  }, [isEnabled])
}
