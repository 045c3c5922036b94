/** The order with this one put in at a position; without one, or past the end, at the end. */
export const placed = (ids: string[], id: string, position = ids.length): string[] => {
  const others = ids.filter((other) => other !== id)
  return others.toSpliced(position, 0, id)
}

export const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
