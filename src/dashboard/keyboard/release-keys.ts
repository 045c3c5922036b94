import { flushSync } from 'react-dom'
import { endHold, holdKeysWhileGoingBack, takeKey } from './key-queue.ts'

/**
 * Applies the keys that wait, in their order, to what has the focus by then. One of them may hold those after it again.
 * Call it in a layout effect, or later: the focus is in its place then.
 */
export function releaseKeys(pressKey: (event: KeyboardEvent) => void = pressAgain) {
  endHold()
  // React cannot render what a key changes inside an effect.
  queueMicrotask(() => {
    for (let event = takeKey(); event; event = takeKey()) pressKey(event)
    holdKeysWhileGoingBack(() => releaseKeys(pressKey))
  })
}

/** Rendered before the next key, as between two real ones. */
const pressAgain = (event: KeyboardEvent) => flushSync(() => press(event))

/** Does what the browser would do as well, which does nothing for an event of a script. */
function press(event: KeyboardEvent) {
  const target = document.activeElement ?? document.body
  const isUnhandled = target.dispatchEvent(new KeyboardEvent(event.type, event))
  if (!isUnhandled || event.ctrlKey || event.metaKey) return
  if (event.key === 'Enter' && target instanceof HTMLElement && target.matches('a, button')) target.click()
  else if (target instanceof HTMLInputElement) type(target, event.key)
  else if (target instanceof HTMLTextAreaElement) type(target, event.key === 'Enter' ? '\n' : event.key)
}

function type(input: HTMLInputElement | HTMLTextAreaElement, key: string) {
  const { selectionStart: start, selectionEnd: end } = input
  // Checkboxes and the like have no text.
  if (start === null || end === null || input.readOnly) return
  if (key.length === 1) input.setRangeText(key, start, end, 'end')
  else if (key === 'Backspace')
    input.setRangeText('', start === end ? Math.max(0, start - 1) : start, end, 'end')
  else return
  input.dispatchEvent(new InputEvent('input', { bubbles: true }))
}
