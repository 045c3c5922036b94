/** Keys become shortcuts again after this time, even if the search box was never rendered. */
const MAX_PENDING_MS = 5_000

let buffer = ''
let pendingUntil = 0

/** Buffers keys for a text box that is not rendered yet. */
export function beginPendingSearch() {
  buffer = ''
  pendingUntil = Date.now() + MAX_PENDING_MS
}

export const isSearchPending = () => Date.now() < pendingUntil

/** Buffers a key typed before the search box is rendered. Returns whether it did. */
export function bufferSearchKey({ key, metaKey, ctrlKey, altKey, defaultPrevented }: KeyboardEvent): boolean {
  if (!isSearchPending() || defaultPrevented || metaKey || ctrlKey || altKey) return false
  if (key === 'Escape') pendingUntil = 0
  else if (key === 'Backspace') buffer = buffer.slice(0, -1)
  else if (key === 'Enter') buffer += '\n'
  else if (key.length === 1) buffer += key
  else return false
  return true
}

/** Returns the buffered text and stops buffering. Enter is a line break at its end. */
export function endPendingSearch(): string {
  pendingUntil = 0
  return buffer
}
