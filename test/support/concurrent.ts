/** Does the work so many times at once. */
export const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** How often each status was returned. */
export const tally = (responses: { status: number }[]) =>
  Object.fromEntries(
    [...Map.groupBy(responses, ({ status }) => status)].map(([key, all]) => [key, all.length]),
  )
