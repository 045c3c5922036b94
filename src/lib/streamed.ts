import { Readable } from 'node:stream'
import { semaphore } from './semaphore.ts'
import { timeSlices } from './time-slices.ts'
import { ownedBy, type WorkOwner, workOwner } from './work-owner.ts'

type Pieces = Iterable<unknown> | AsyncIterable<unknown>

/** A stream that has begun can only break off, so it waits longer for its turn than a request does. */
const MAX_WAIT_MS = 20_000

/** Streams pieces that are made for the current owner, whoever reads them. */
export function streamed(pieces: Pieces): Readable {
  const owner = workOwner()
  return Readable.from(owner ? owned(pieces, owner) : pieces, { objectMode: false })
}

/**
 * The same for pieces that take processor time: the streams of one owner make one at a time and share one turn of the
 * event loop, so that many of them delay others no more than one does.
 */
export function streamedInTurns(pieces: Pieces): Readable {
  const owner = workOwner()
  return Readable.from(owner ? inTurns(owned(pieces, owner), owner.name) : pieces, { objectMode: false })
}

async function* owned(pieces: Pieces, owner: WorkOwner): AsyncGenerator<unknown> {
  const waiting = { ...owner, maxWaitMs: MAX_WAIT_MS }
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  try {
    for (;;) {
      const { done, value } = await ownedBy(waiting, () => iterator.next())
      if (done) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}

/** The open streams of one owner. */
interface Line {
  streams: number
  inTurn: ReturnType<typeof semaphore>
  pause: ReturnType<typeof timeSlices>
}

const lines = new Map<string, Line>()

async function* inTurns(pieces: AsyncGenerator<unknown>, name: string): AsyncGenerator<unknown> {
  const line = lines.get(name) ?? { streams: 0, inTurn: semaphore(1), pause: timeSlices() }
  lines.set(name, line)
  line.streams++
  try {
    for (;;) {
      const { done, value } = await line.inTurn(async () => {
        await line.pause()
        return pieces.next()
      })
      if (done) return
      yield value
    }
  } finally {
    line.streams--
    if (line.streams === 0) lines.delete(name)
    await pieces.return(undefined)
  }
}
