interface Versioned {
  version: number
}

/**
 * Sends the changes of one thing one after another, each based on what the one before returned: two at once would be in
 * conflict with each other.
 */
export function createChangeQueue<T extends Versioned>(first: T) {
  let latest = first
  let last: Promise<unknown> = Promise.resolve()
  const update = (thing: T) => {
    if (thing.version > latest.version) latest = thing
  }
  return {
    /** For changes by others. */
    update,
    send(change: (latest: T) => Promise<T>): Promise<T> {
      const sent = last.then(() => change(latest))
      last = sent.then(update, () => {})
      return sent
    },
  }
}
