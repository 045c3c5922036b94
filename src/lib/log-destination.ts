import { pino } from 'pino'

/** What waits for space or for a reader, at most. */
const MAX_BYTES = 1 << 20

/**
 * Where log lines go. One that cannot be written, for the disk is full or nobody reads, is kept a while and then
 * dropped: pino's own destination would throw, and end the process.
 */
export function logDestination(fd: number) {
  const destination = pino.destination({ fd, sync: true, maxLength: MAX_BYTES })
  destination.on('error', () => undefined)
  return destination
}
