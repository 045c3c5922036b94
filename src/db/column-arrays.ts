import { type SQL, sql } from './drizzle.ts'

/** For each column the type of its array's elements, and its value in a row. */
export type ArrayColumns<Row> = Record<
  string,
  [type: string, read: (row: Row) => string | number | boolean | null]
>

/**
 * Rows as one array parameter for each column: half the processor time of JSON records, in PostgreSQL and in Node. The
 * statement is the same for one row and for a hundred, so it is prepared once.
 */
export function columnArrays<Row>(columns: ArrayColumns<Row>) {
  const arrays = Object.entries(columns).map(
    ([name, [type]]) => sql`${sql.placeholder(name)}::${sql.raw(type)}[]`,
  )
  return {
    /** `select ... from` this, under this name. */
    as: (name: string): SQL =>
      sql`unnest(${sql.join(arrays, sql`, `)}) as ${sql.raw(`${name}(${Object.keys(columns).join(', ')})`)}`,
    /** Values of the placeholders. */
    valuesOf: (rows: Row[]): Record<string, unknown[]> =>
      Object.fromEntries(Object.entries(columns).map(([name, [, read]]) => [name, rows.map(read)])),
  }
}

/** PostgreSQL's text form of an array: an array of arrays would have to be rectangular. */
export const arrayLiteral = (texts: string[]) =>
  texts.length === 0 ? '{}' : `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join()}}`
