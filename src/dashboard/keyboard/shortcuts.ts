import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import type { TaskListItem } from '../api/queries.ts'
import { editsBegun } from '../components/begun-edits.ts'
import { isComposing } from '../components/is-enter.ts'
import { preloadModule } from '../components/lazy.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { createGoKeys } from './go-keys.ts'
import { areKeysHeld, discardKeys, holdKeys, holdKeysWhileGoingBack, queueKey } from './key-queue.ts'
import { areSingleKeysOn } from './single-keys.ts'

const loadUndo = preloadModule(() => import('../components/undo.tsx'))
export const loadReleaseKeys = preloadModule(() => import('./release-keys.ts'))

/** What the address names while the help, a new task, or a new project is open. */
const SHORTCUTS = 'shortcuts'
const TASK = 'task'
export const PROJECT = 'project'
export const ACCOUNT = 'account'

/** How long keys wait for the search box of a page that may not come. */
const MAX_SEARCH_WAIT_MS = 5_000

/** Opens the dialog for a new task, which the app shell renders. */
export const openNewTask = () => dispatchEvent(new Event('inlet:new-task'))
/** Opens the task after the open one in the list, or the one before it. */
export const openNeighbor = (step: 1 | -1) =>
  dispatchEvent(new CustomEvent('inlet:neighbor', { detail: step }))
export const openHelp = () => dispatchEvent(new Event('inlet:help'))

/** What the command palette asks for: any command, the value of a property, a task to merge into, and so on. */
export type PaletteStep =
  | 'root'
  | 'status'
  | 'priority'
  | 'labels'
  | 'assignees'
  | 'list'
  | 'merge'
  | 'projects'
  | 'filter'
  | 'sort'
  | 'newProject'
  | 'newList'
  | 'snooze'

export interface PaletteRequest {
  step: PaletteStep
  /** The tasks that it changes. */
  tasks: TaskListItem[]
  /** Follows an edit of them, which resolves to the ids of those that failed. */
  onEdit?(edit: Promise<string[]>): void
  /** Called when a value is chosen: keys that follow are for other tasks. */
  onChoose?(): void
}

/** Opens the command palette, which the app shell renders. Keys that follow wait for it. */
export function openPalette(request: PaletteRequest) {
  holdKeys()
  dispatchEvent(new CustomEvent<PaletteRequest>('inlet:palette', { detail: request }))
}

/** Where the list handles keys, which knows the tasks to change. */
const isListPage = () => /^\/(tasks|triage)/.test(location.pathname)

/** Inputs that have no text to type, and what they do with keys: checkboxes, and choices whose options are not shown. */
const CHECKBOX = 'input:is([type="checkbox"], [type="radio"])'
const CLOSED_CHOICE = 'input[readonly]:not([aria-controls])'
const CHOICE_KEYS = [' ', 'Enter', 'Escape', 'ArrowUp', 'ArrowDown']

const TYPED = `input:not(${CHECKBOX}, ${CLOSED_CHOICE}), textarea`

const OWN_KEYS = `${TYPED}, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"], [aria-busy="true"]`

/** Keys inside never wait for what the page opens. */
const TEXT_INPUT = `${TYPED}, [role="dialog"]`

/** A modal that is open or still loading. */
const BLOCKING = 'dialog, [role="dialog"][aria-modal="true"], [data-dialog-loading], [aria-busy="true"]'

/** Whether a key is a shortcut: not while typing, and not while a modal is open or loading. */
export const isShortcut = (event: KeyboardEvent): boolean =>
  !event.metaKey && !event.ctrlKey && isForPage(event) && (event.key.length > 1 || areSingleKeysOn())

/** Whether Ctrl or Command is pressed with a key, under the same conditions. */
export const isCommandKey = (event: KeyboardEvent): boolean =>
  event.metaKey !== event.ctrlKey && !event.shiftKey && isForPage(event)

function isForPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.altKey || isComposing(event)) return false
  const target = event.target as HTMLElement | null
  if (target?.closest(OWN_KEYS)) return false
  if (target?.matches(CHECKBOX) && event.key === ' ') return false
  if (target?.matches(CLOSED_CHOICE) && CHOICE_KEYS.includes(event.key)) return false
  return !areKeysHeld() && !document.querySelector(BLOCKING)
}

const releaseWaiting = () => void loadReleaseKeys().then(({ releaseKeys }) => releaseKeys(), discardKeys)

/** The global shortcuts. `goTo` takes the letter after `g`. */
export function useShortcuts(goTo: (letter: string) => void) {
  const [, navigate] = useLocation()
  const { opened: help, open: showHelp, close: closeHelp } = useOpened('help')
  const { opened: created, open: create, close: closeNew } = useOpened('new')
  const [palette, setPalette] = useState<PaletteRequest>()
  const opener = useRef<Element>(null)
  useEffect(() => {
    const takeGoKey = createGoKeys(goTo)
    const openNewTaskDialog = () => {
      opener.current = document.activeElement
      create(TASK)
    }
    const openHelpDialog = () => {
      opener.current = document.activeElement
      showHelp(SHORTCUTS)
    }
    const queue = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement | null
      if (target?.closest(TEXT_INPUT) && !target.closest('dialog')) return
      holdKeysWhileGoingBack(releaseWaiting)
      // Gives up what an open dialog waits for; a key that has waited itself is followed by others.
      if (event.key === 'Escape' && areKeysHeld() && document.querySelector('dialog')) discardKeys()
      if (isComposing(event) || !(queueKey(event) || (isShortcut(event) && takeGoKey(event)))) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'k' && isCommandKey(event) && !isListPage()) {
        event.preventDefault()
        return openPalette({ step: 'root', tasks: [] })
      }
      if (!isShortcut(event)) return
      if (event.key === '?') openHelpDialog()
      else if (event.key === 'c') openNewTaskDialog()
      // On task pages the search box handles it; keys wait for one that is not there yet.
      else if (event.key === '/' && !location.pathname.startsWith('/tasks')) {
        holdKeys(MAX_SEARCH_WAIT_MS)
        navigate('/tasks')
      } else if (event.key === 'z' && !event.repeat) {
        void Promise.all([loadUndo(), editsBegun()]).then(([{ undoLatest }]) => undoLatest())
      } else return
      event.preventDefault()
    }
    // Rendered before the next key press.
    const showPalette = (event: Event) =>
      flushSync(() => setPalette((event as CustomEvent<PaletteRequest>).detail))
    // Before any other listener.
    addEventListener('keydown', queue, { capture: true })
    addEventListener('keydown', onKey)
    addEventListener('inlet:palette', showPalette)
    addEventListener('inlet:new-task', openNewTaskDialog)
    addEventListener('inlet:help', openHelpDialog)
    return () => {
      removeEventListener('keydown', queue, { capture: true })
      removeEventListener('keydown', onKey)
      removeEventListener('inlet:palette', showPalette)
      removeEventListener('inlet:new-task', openNewTaskDialog)
      removeEventListener('inlet:help', openHelpDialog)
    }
  }, [showHelp, create, navigate, goTo])
  const isOpen = help !== undefined || created !== undefined
  useEffect(() => {
    // Closing the dialog moves the focus to the body.
    if (isOpen || document.activeElement !== document.body) return
    if (opener.current instanceof HTMLElement) opener.current.focus()
    opener.current = null
  }, [isOpen])
  return {
    isHelpOpen: help === SHORTCUTS,
    isNewTaskOpen: created === TASK,
    isNewProjectOpen: created === PROJECT,
    isNewAccountOpen: created === ACCOUNT,
    palette,
    closeHelp,
    closeNew,
    closePalette: () => setPalette(undefined),
  }
}
