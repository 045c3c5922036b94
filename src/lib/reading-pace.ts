import type { Socket } from 'node:net'

interface PaceOptions {
  windowMs: number
  /** A reader who takes less within one window, while more is waiting, is too slow. */
  minBytes: number
}

interface Window {
  since: number
  taken: number
}

/** Detects slow readers: data was waiting at every check of a window, and less than `minBytes` of it was read. */
export function readingPace({ windowMs, minBytes }: PaceOptions) {
  const windows = new WeakMap<PacedSocket, Window>()

  return {
    isTooSlow(socket: PacedSocket, now = performance.now()): boolean {
      const taken = socket.bytesWritten - socket.writableLength
      const window = windows.get(socket)
      const isWaiting = socket.writableLength > 0
      if (window && isWaiting && now - window.since < windowMs) return false
      const isTooSlow = window !== undefined && isWaiting && taken - window.taken < minBytes
      if (isWaiting) windows.set(socket, { since: now, taken })
      else windows.delete(socket)
      return isTooSlow
    },
  }
}

type PacedSocket = Pick<Socket, 'bytesWritten' | 'writableLength'>
