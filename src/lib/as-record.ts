/** The members of a parsed JSON object, of unknown types; none for any other value. */
export const asRecord = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
