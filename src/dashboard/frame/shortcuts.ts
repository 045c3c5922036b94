import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { undoLatest } from '../parts/undo.ts'

/** Asks for the dialog in which a task is written, from wherever. */
export const openNewTask = () => dispatchEvent(new Event('inlet:new-task'))
export const openHelp = () => dispatchEvent(new Event('inlet:help'))

const WRITTEN_IN =
  'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"], [aria-busy="true"]'

/** A bare key is a command only where nobody writes or is about to, and no dialog is open. */
export function isCommand(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return false
  const target = event.target as HTMLElement | null
  if (target?.closest(WRITTEN_IN)) return false
  return !document.querySelector('[role="dialog"][aria-modal="true"]')
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether somebody came to search. */
    isSearching?: boolean
  }
}

/** What the keyboard does on every page. */
export function useShortcuts() {
  const navigate = useNavigate()
  const [isHelpOpen, help] = useDisclosure(false)
  const [isNewTaskOpen, newTask] = useDisclosure(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isCommand(event)) return
      if (event.key === '?') help.open()
      else if (event.key === 'c') newTask.open()
      // Where tasks are listed the search box itself hears it.
      else if (event.key === '/' && !location.pathname.startsWith('/tasks'))
        void navigate({ to: '/tasks', state: { isSearching: true } })
      else if (event.key === 'z' && !event.repeat) undoLatest()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    addEventListener('inlet:new-task', newTask.open)
    addEventListener('inlet:help', help.open)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('inlet:new-task', newTask.open)
      removeEventListener('inlet:help', help.open)
    }
  }, [help.open, newTask.open, navigate])
  return { isHelpOpen, isNewTaskOpen, closeHelp: help.close, closeNewTask: newTask.close }
}
