import type { KeyboardEvent as ReactKeyboardEvent } from 'react'

type Key = KeyboardEvent | ReactKeyboardEvent

/** Whether a key belongs to an input method, such as the Enter that chooses a word in Japanese. */
export function isComposing(event: Key): boolean {
  const { isComposing, keyCode } = 'nativeEvent' in event ? event.nativeEvent : event
  // Safari ends the composition before it sends the key, with this code.
  return isComposing || keyCode === 229
}

export const isEnter = (event: Key): boolean => event.key === 'Enter' && !isComposing(event)

export const isEnterWithCommand = (event: Key): boolean => isEnter(event) && (event.ctrlKey || event.metaKey)
