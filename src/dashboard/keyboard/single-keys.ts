/** In local storage: it belongs to the browser, where somebody may speak instead of typing. */
export const SINGLE_KEYS = 'inlet-single-keys'

/** Whether keys without Ctrl or Command are shortcuts. Keys such as Enter, Escape and the arrows always are. */
export function areSingleKeysOn(): boolean {
  try {
    return localStorage.getItem(SINGLE_KEYS) !== 'off'
  } catch {
    return true
  }
}
