import { afterGoingBack, isGoingBack } from '../navigation/go-back.ts'

const KEYS_OF_THE_PAGE = /^(.|Enter|Escape|Backspace|ArrowUp|ArrowDown)$/u

let waiting: KeyboardEvent[] = []
let heldUntil = 0

/** Keys wait from now on, because what they are meant for is not there yet: until `releaseKeys`, or for some time. */
export function holdKeys(maxMs = Number.POSITIVE_INFINITY) {
  discardStaleKeys()
  heldUntil = Date.now() + maxMs
}

export const areKeysHeld = () => Date.now() < heldUntil

/** `releaseKeys` calls it. */
export function endHold() {
  heldUntil = 0
}

/** For when what they wait for does not come. */
export function discardKeys() {
  endHold()
  waiting = []
}

function discardStaleKeys() {
  if (heldUntil > 0 && !areKeysHeld()) discardKeys()
}

/** Takes a key that has to wait. Returns whether it did. Keys of the browser do not wait. */
export function queueKey(event: KeyboardEvent): boolean {
  discardStaleKeys()
  if (!areKeysHeld()) return false
  const { key, altKey, ctrlKey, metaKey } = event
  const isOfPage = ctrlKey || metaKey ? key === 'k' : KEYS_OF_THE_PAGE.test(key)
  if (altKey || !isOfPage) return false
  waiting.push(event)
  return true
}

/** The next key that waited; undefined when there is none, or while keys are held again. */
export const takeKey = () => (areKeysHeld() || isGoingBack() ? undefined : waiting.shift())

/** What keys open while the browser goes back would be left with the address. `release` is called when it is there. */
export function holdKeysWhileGoingBack(release: () => void) {
  if (!isGoingBack() || areKeysHeld()) return
  holdKeys()
  afterGoingBack(release)
}
