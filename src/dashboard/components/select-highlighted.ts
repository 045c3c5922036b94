import type { KeyboardEvent } from 'react'
import { isEnter } from './is-enter.ts'

/**
 * For `onKeyDownCapture` around a combobox whose options may be replaced while one is highlighted: Enter selects that one.
 * The library would select the option that is at its position by then. Without a highlighted one, calls `onNone`.
 */
export function selectHighlighted(onNone: (event: KeyboardEvent) => void) {
  return (event: KeyboardEvent): void => {
    // With a modifier key, it is a shortcut.
    if (!(event.target instanceof HTMLInputElement) || !isEnter(event) || event.ctrlKey || event.metaKey)
      return
    const option = highlightedOption(event.target)
    if (!option) {
      onNone(event)
      return
    }
    event.preventDefault()
    event.stopPropagation()
    option.click()
  }
}

/** For `onNone`: the library selects nothing. */
export const selectNone = (event: KeyboardEvent): void => event.stopPropagation()

const highlightedOption = (field: HTMLInputElement) =>
  document
    .getElementById(field.getAttribute('aria-controls') ?? '')
    ?.querySelector<HTMLElement>('[data-combobox-selected]')
