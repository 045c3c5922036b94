export const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
