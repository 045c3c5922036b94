import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { paths } = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8'))

interface Parameter {
  name: string
  schema: { description?: string }
  description?: string
}

/** The lists that have pages, with what each says about its limit and its cursor. */
function* lists(): Generator<[string, string]> {
  for (const [path, { get }] of Object.entries<Record<string, never>>(paths)) {
    const { parameters = [], responses } = (get ?? {}) as { parameters?: Parameter[]; responses?: never }
    const limit = parameters.find(({ name }) => name === 'limit')
    const page = responses?.['200']?.['content']?.['application/json']?.['schema']?.['properties']
    const { nextCursor } = (page ?? {}) as { nextCursor?: object }
    if (limit && nextCursor) yield [path, JSON.stringify([limit, nextCursor])]
  }
}

test('every list with pages says that a short page is not the end', () => {
  const all = [...lists()]
  expect(all.length).toBeGreaterThan(15)
  for (const [path, text] of all) {
    // The activity log for programs has `hasMore` instead.
    if (path === '/api/changes') continue
    expect
      .soft([path, text])
      .toEqual([path, expect.stringContaining('A page also ends once its items have 1 MiB.')])
    expect.soft([path, text]).toEqual([path, expect.stringContaining('needn’t be the last')])
  }
})
