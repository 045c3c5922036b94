import { hash } from 'node:crypto'

const MAX_LENGTH = 255

/** An id of another system in at most 255 characters. A cut one could equal another; a hash does not. */
export const shortId = (id: string): string =>
  [...id.slice(0, 2 * MAX_LENGTH + 2)].length <= MAX_LENGTH ? id : `sha256:${hash('sha256', id)}`
