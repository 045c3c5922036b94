import { expect } from 'vitest'

/** The names of a page of lists or rules in order; their positions have to be 0, 1, 2, ... */
export function namesInOrder(data: { name: string; position: number }[]): string[] {
  expect(data.map(({ position }) => position)).toEqual([...data.keys()])
  return data.map(({ name }) => name)
}
