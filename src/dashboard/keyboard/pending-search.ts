/** No page takes longer to come; after that keys are commands again. */
const LONGEST_MS = 5_000

let typed = ''
let awaitedUntil = 0

/** Somebody asked for the search box of a page that is on its way. */
export function awaitSearch() {
  typed = ''
  awaitedUntil = Date.now() + LONGEST_MS
}

export const isSearchAwaited = () => Date.now() < awaitedUntil

/** Keeps what is typed before the search box is there; answers whether this key was. */
export function keepForSearch({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
  if (!isSearchAwaited() || metaKey || ctrlKey || altKey) return false
  if (key === 'Escape') awaitedUntil = 0
  else if (key === 'Backspace') typed = typed.slice(0, -1)
  else if (key.length === 1) typed += key
  else return false
  return true
}

/** What was typed for the search box, which has the focus from now on. */
export function takeAwaitedSearch(): string {
  awaitedUntil = 0
  return typed
}
