import type { Hash } from 'node:crypto'

/** The version of the format. A change that earlier versions of Inlet can't read increments it. */
export const FORMAT = 1

/** The longest line of an import: twice what the longest task can have, with each character escaped. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024

interface Header {
  /** The version of Inlet. */
  version: string
  createdAt: Date
  /** The epoch of the change feed. */
  epoch: string
}

/** The first line. It is all that two exports of the same data differ in. */
export const headerLine = ({ version, createdAt, epoch }: Header): string =>
  lineOf({ kind: 'header', format: FORMAT, version, createdAt: createdAt.toISOString(), epoch })

/** The last line. The SHA-256 is that of all lines between the first and this one. */
export const endLine = ({ counts, hash }: { counts: Map<string, number>; hash: Hash }): string =>
  lineOf({ kind: 'end', counts: Object.fromEntries(counts), sha256: hash.digest('hex') })

const lineOf = (members: object) => `${JSON.stringify(members)}\n`
