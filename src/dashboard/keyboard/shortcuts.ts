import { useDisclosure } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { undoLatest } from '../components/undo.tsx'
import { beginPendingSearch, bufferSearchKey, isSearchPending } from './pending-search.ts'

/** Kept with an address in the history, but not shown. */
export type HistoryState = {
  /** Whether to focus the search box after navigation. */
  isSearching?: boolean
} | null

/** Opens the dialog for a new task, which the app shell renders. */
export const openNewTask = () => dispatchEvent(new Event('inlet:new-task'))
export const openHelp = () => dispatchEvent(new Event('inlet:help'))

const OWN_KEYS =
  'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"], [aria-busy="true"]'

/** A modal that is open or still loading. */
const BLOCKING = '[role="dialog"][aria-modal="true"], [data-dialog-loading], [aria-busy="true"]'

/** Whether a key is a shortcut: not while typing, and not while a modal is open or loading. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return false
  const target = event.target as HTMLElement | null
  if (target?.closest(OWN_KEYS)) return false
  return !isSearchPending() && !document.querySelector(BLOCKING)
}

/** The global shortcuts. */
export function useShortcuts() {
  const [, navigate] = useLocation()
  const [isHelpOpen, help] = useDisclosure(false)
  const [isNewTaskOpen, newTask] = useDisclosure(false)
  const opener = useRef<Element>(null)
  useEffect(() => {
    const openNewTaskDialog = () => {
      opener.current = document.activeElement
      newTask.open()
    }
    const onKey = (event: KeyboardEvent) => {
      if (bufferSearchKey(event)) return event.preventDefault()
      if (!isShortcut(event)) return
      if (event.key === '?') help.open()
      else if (event.key === 'c') openNewTaskDialog()
      // On task pages the search box handles it.
      else if (event.key === '/' && !location.pathname.startsWith('/tasks')) {
        beginPendingSearch()
        navigate('/tasks', { state: { isSearching: true } satisfies HistoryState })
      } else if (event.key === 'z' && !event.repeat) undoLatest()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    addEventListener('inlet:new-task', openNewTaskDialog)
    addEventListener('inlet:help', help.open)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('inlet:new-task', openNewTaskDialog)
      removeEventListener('inlet:help', help.open)
    }
  }, [help.open, newTask.open, navigate])
  useEffect(() => {
    // Closing the dialog moves the focus to the body.
    if (isNewTaskOpen || document.activeElement !== document.body) return
    if (opener.current instanceof HTMLElement) opener.current.focus()
    opener.current = null
  }, [isNewTaskOpen])
  return { isHelpOpen, isNewTaskOpen, closeHelp: help.close, closeNewTask: newTask.close }
}
