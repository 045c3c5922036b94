/** The last change of each task that is being saved. */
const lastChange = new Map<string, Promise<unknown>>()

/** Sends a change after the earlier changes of the same tasks: in which order the service gets them would be chance. */
export async function inTurn<T>(ids: Iterable<string>, send: () => Promise<T>): Promise<T> {
  const taskIds = [...ids]
  const earlier = Promise.allSettled(taskIds.map((id) => lastChange.get(id)))
  const change = earlier.then(send)
  for (const id of taskIds) lastChange.set(id, change)
  try {
    return await change
  } finally {
    for (const id of taskIds) if (lastChange.get(id) === change) lastChange.delete(id)
  }
}
