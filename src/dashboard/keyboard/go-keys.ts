/** How long `g` waits for its letter. */
const MAX_WAIT_MS = 1_500

/** Takes `g` and the letter after it, which is no other shortcut then. Returns whether it took the shortcut. */
export function createGoKeys(go: (letter: string) => void) {
  let waitsUntil = 0
  return (event: KeyboardEvent): boolean => {
    // Shift, say, is pressed before another key.
    if (event.repeat || (event.key.length > 1 && event.key !== 'Escape')) return false
    const isSecond = Date.now() < waitsUntil
    waitsUntil = isSecond || event.key !== 'g' ? 0 : Date.now() + MAX_WAIT_MS
    if (isSecond) go(event.key)
    return isSecond || event.key === 'g'
  }
}
