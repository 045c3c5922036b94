import { isChangeCursor } from '../schemas/formats.ts'

/** A place in the order of changes, which means something only within its epoch. */
export interface ChangePosition {
  epoch: string
  /** All changes up to this one are before it; 0 is the beginning. */
  position: number
}

const EPOCH_BYTES = 16

/** 32 characters: an epoch and a position. */
export function encodeChangeCursor({ epoch, position }: ChangePosition): string {
  const bytes = Buffer.alloc(EPOCH_BYTES + 8)
  bytes.write(epoch.replaceAll('-', ''), 'hex')
  bytes.writeBigUInt64BE(BigInt(position), EPOCH_BYTES)
  return bytes.toString('base64url')
}

/** Returns undefined for what is no cursor. Any text of its form is one, if only of an epoch that never was. */
export function decodeChangeCursor(cursor: string): ChangePosition | undefined {
  if (!isChangeCursor(cursor)) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const epoch = bytes.toString('hex', 0, EPOCH_BYTES).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { epoch, position: Number(bytes.readBigUInt64BE(EPOCH_BYTES)) }
}
