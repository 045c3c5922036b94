import { pino } from 'pino'

/** Maximum of bytes buffered while the destination cannot be written. */
const MAX_BYTES = 1 << 20

/**
 * The destination of log lines. Lines that cannot be written (disk full, no reader) are buffered, then dropped: pino's
 * own destination would throw and end the process.
 */
export function logDestination(fd: number) {
  const destination = pino.destination({ fd, sync: true, maxLength: MAX_BYTES })
  destination.on('error', () => undefined)
  return destination
}
