/** Returns the order with the id inserted at a position; without a position or past the end, it is appended. */
export const insertAt = (
  ids: string[],
  { id, position = ids.length }: { id: string; position?: number | undefined },
): string[] => {
  const others = ids.filter((other) => other !== id)
  return others.toSpliced(position, 0, id)
}

export const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
