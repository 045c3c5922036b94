import fc from 'fast-check'

/** One of these values, each as often as its weight says. */
export const weighted = <T extends string>(weights: Partial<Record<T, number>>): fc.Arbitrary<T> =>
  fc.constantFrom(
    ...Object.entries<number | undefined>(weights).flatMap(([value, weight = 0]) =>
      Array.from({ length: weight }, () => value as T),
    ),
  )
