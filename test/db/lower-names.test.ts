import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

test('names in lower case are each name in lower case, whatever characters they have', async () => {
  const special = fc.constantFrom(
    '"',
    '\\',
    ',',
    '{',
    '}',
    ' ',
    '\n',
    'NULL',
    'null',
    "'",
    'Σ',
    'İ',
    'ß',
    'Ä',
    'a',
    'B',
  )
  const name = fc.oneof(
    fc.array(special, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 5 }), async (names) => {
      const { rows } = await client.query(
        `select lower_names($1) as names,
          array(select lower(name) from unnest($1) with ordinality as named(name, place) order by place) as each`,
        [names],
      )
      expect(rows[0].names).toEqual(rows[0].each)
    }),
    { numRuns: 500 },
  )
})
