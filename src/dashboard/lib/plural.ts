/** `1 task`, `2 tasks`. Digits are grouped only from 1,000 on: the first use of Intl takes 25 to 80 ms. */
export const plural = (count: number, noun: string): string =>
  `${count < 1_000 ? count : count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
