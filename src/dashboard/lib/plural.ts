/** `1 task`, `2 tasks`. Digits are grouped only from 1,000 on: the first use of Intl takes 25 to 80 ms. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count < 1_000 ? count : count.toLocaleString()} ${count === 1 ? one : many}`
