/** A number of things: `1 task`, `2 tasks`. Grouped where there is something to group: Intl costs the first page time. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count < 1_000 ? count : count.toLocaleString()} ${count === 1 ? one : many}`
