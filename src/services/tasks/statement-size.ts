/** Characters of one statement; most batches need only one. */
export const MAX_STATEMENT_LENGTH = 1024 * 1024
/** Not measured; a hundred of the largest are 1.6 MB. */
const ASSUMED_METADATA_LENGTH = 8_192
/** Characters of the long fields that a statement writes. */
export const lengthOf = ({ description, metadata }: { description?: string | null; metadata?: unknown }) =>
  (description?.length ?? 0) + (hasMembers(metadata) ? ASSUMED_METADATA_LENGTH : 0)
const hasMembers = (object: unknown) => Object.keys(object ?? {}).length > 0
