/**
 * Cuts a list into slices of at most `maxSize` each; a larger item is a slice of its own. An empty list becomes one
 * empty slice.
 */
export function* slicesBySize<T>(
  items: T[],
  { maxSize, sizeOf }: { maxSize: number; sizeOf(item: T): number },
): Generator<T[]> {
  let slice: T[] = []
  let size = 0
  for (const item of items) {
    const added = sizeOf(item)
    if (slice.length > 0 && size + added > maxSize) {
      yield slice
      slice = []
      size = 0
    }
    slice.push(item)
    size += added
  }
  yield slice
}
