import { type DestinationStream, pino } from 'pino'

/** Maximum of bytes buffered while the destination cannot be written. */
const MAX_BYTES = 1 << 20
/** Written without waiting for the end of the turn. */
const FULL_BYTES = 8 << 10

/**
 * The destination of log lines. Those of one turn of the event loop are written together: a system call for each takes
 * longer than making it. Lines that cannot be written (disk full, no reader) are buffered, then dropped: pino's own
 * destination would throw and end the process.
 */
export function logDestination(fd: number): DestinationStream {
  const destination = pino.destination({ fd, sync: true, maxLength: MAX_BYTES, minLength: FULL_BYTES })
  let isFlushing = false
  destination.on('error', () => undefined)
  process.once('exit', flush)

  return {
    write(line) {
      destination.write(line)
      if (isFlushing) return
      isFlushing = true
      setImmediate(flush)
    },
  }

  function flush() {
    isFlushing = false
    // Not `flushSync`, which would wait for ever if the disk is full.
    destination.flush()
  }
}
