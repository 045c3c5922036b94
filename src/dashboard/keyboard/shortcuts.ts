import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { undoLatest } from '../components/undo.tsx'
import { awaitSearch, isSearchAwaited, keepForSearch } from './pending-search.ts'

/** Asks for the dialog in which a task is written, from wherever. */
export const openNewTask = () => dispatchEvent(new Event('inlet:new-task'))
export const openHelp = () => dispatchEvent(new Event('inlet:help'))

const WRITTEN_IN =
  'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"], [aria-busy="true"]'

/** What is open, or on its way because somebody asked for it. */
const BUSY = '[role="dialog"][aria-modal="true"], [data-dialog-loading], [aria-busy="true"]'

/** A bare key is a command only where nobody writes or is about to, no dialog is open and none is on its way. */
export function isCommand(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return false
  const target = event.target as HTMLElement | null
  if (target?.closest(WRITTEN_IN)) return false
  return !isSearchAwaited() && !document.querySelector(BUSY)
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
  const opener = useRef<Element>(null)
  useEffect(() => {
    const openTask = () => {
      opener.current = document.activeElement
      newTask.open()
    }
    const onKey = (event: KeyboardEvent) => {
      if (keepForSearch(event)) return event.preventDefault()
      if (!isCommand(event)) return
      if (event.key === '?') help.open()
      else if (event.key === 'c') openTask()
      // Where tasks are listed the search box itself hears it.
      else if (event.key === '/' && !location.pathname.startsWith('/tasks')) {
        awaitSearch()
        void navigate({ to: '/tasks', state: { isSearching: true } })
      } else if (event.key === 'z' && !event.repeat) undoLatest()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    addEventListener('inlet:new-task', openTask)
    addEventListener('inlet:help', help.open)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('inlet:new-task', openTask)
      removeEventListener('inlet:help', help.open)
    }
  }, [help.open, newTask.open, navigate])
  useEffect(() => {
    // The focus went with the dialog.
    if (isNewTaskOpen || document.activeElement !== document.body) return
    if (opener.current instanceof HTMLElement) opener.current.focus()
    opener.current = null
  }, [isNewTaskOpen])
  return { isHelpOpen, isNewTaskOpen, closeHelp: help.close, closeNewTask: newTask.close }
}
