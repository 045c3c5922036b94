import { createHash } from 'node:crypto'
import { endLine, headerLine } from '../domain/export-format.ts'
import type { Operations } from '../domain/operation.ts'
import { tooManyExports } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import { VERSION } from '../lib/version.ts'
import type { ExportSnapshot, exportRepository } from '../repositories/export/index.ts'
import type { Caller } from './access.ts'

/** Each has a connection to the database, and keeps the database from cleaning up what was deleted since. */
const MAX_EXPORTS = 3

export const exportOperations = {
  open: { scope: 'admin', isServiceWide: true },
} satisfies Operations<ReturnType<typeof exportService>>

export interface Export {
  createdAt: Date
  /** The lines, in pieces. */
  pieces: AsyncGenerator<Buffer>
  /** To be called once nothing more is read; later calls do nothing. */
  close(): Promise<void>
}

/** Exports all data of the service as of one point in time. */
export function exportService({
  exports,
  clock,
}: {
  exports: ReturnType<typeof exportRepository>
  clock: Pick<Clock, 'now'>
}) {
  let openCount = 0

  return {
    /** @throws rate_limited if too many are open */
    async open(_caller: Caller): Promise<Export> {
      if (openCount >= MAX_EXPORTS) throw tooManyExports(MAX_EXPORTS)
      openCount++
      let isOpen = true
      const leave = () => {
        if (isOpen) openCount--
        isOpen = false
      }
      try {
        const snapshot = await exports.openSnapshot()
        const createdAt = clock.now()
        return {
          createdAt,
          pieces: pacedPieces(piecesOf(snapshot, createdAt)),
          async close() {
            leave()
            await snapshot.close()
          },
        }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

async function* piecesOf({ epoch, kinds }: ExportSnapshot, createdAt: Date): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const counts = new Map<string, number>()
  yield Buffer.from(headerLine({ version: VERSION, createdAt, epoch }))
  for (const { kind, readLines } of kinds) {
    let count = 0
    for await (const piece of readLines()) {
      hash.update(piece)
      count += lineFeedsIn(piece)
      yield piece
    }
    counts.set(kind, count)
  }
  yield Buffer.from(endLine({ counts, hash }))
}

function lineFeedsIn(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count++
  return count
}
