const EVENT = 'inlet:accept-all'

/** Does what the button on the triage page does. */
export const acceptAll = () => dispatchEvent(new Event(EVENT))

/** Returns a function that ends it. */
export function onAcceptAll(listener: () => void) {
  addEventListener(EVENT, listener)
  return () => removeEventListener(EVENT, listener)
}
