/** Returns the order with the id inserted at a position; without a position or past the end, it is appended. */
export const placed = (ids: string[], id: string, position = ids.length): string[] => {
  const others = ids.filter((other) => other !== id)
  return others.toSpliced(position, 0, id)
}

export const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
