import { useEffect, useRef } from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import { statusLock } from '../managed.ts'
import type { Selection } from './use-selection.ts'

const load = preloadModule(() => import('./row-gestures.ts'))

interface RowGestures {
  isEnabled: boolean
  rows: TaskListItem[]
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
    void load().then(({ watchRows, tomorrowMorning }) => {
      if (isGone) return
      stop = watchRows((id, gesture) => {
        const { rows, selection, actions } = latest.current
        const task = rows.find((row) => row.id === id)
        if (!task) return
        if (gesture === 'select') return selection.toggle(id, false)
        if (gesture === 'snooze') return void actions.change([task], { snoozedUntil: tomorrowMorning() })
        const lock = statusLock([task])
        if (lock) toast.info(lock)
        else actions.toggleDone(task)
      })
    })
    return () => {
      isGone = true
      stop()
    }
  }, [isEnabled])
}
