import type { Schema } from '../api/client.ts'
import type { TaskFilters } from '../api/queries.ts'

/** The validated search parameters of all pages. */
export interface Search extends Omit<TaskFilters, 'status' | 'source'> {
  /** Of tasks; or the source whose editor is open. */
  source?: TaskFilters['source'] | string
  /** `all` where no status would mean those of the default view. */
  status?: TaskFilters['status'] | 'all'
  /** Of the list of what arrived. */
  receiver?: Schema<'Delivery'>['receiver']
  sourceId?: string
  outcome?: Schema<'Delivery'>['outcome']
  /** What is open on a page. */
  delivery?: string
  deliveries?: string
  rotate?: string
  test?: string
  edit?: string
  /** What a page scrolls to. */
  show?: string
  /** How many weeks an overview has. */
  weeks?: number | undefined
  /** Where to go after signing in. */
  next?: string
}

/** Parses a query string: JSON where a value is JSON, such as `["high"]`, otherwise the text. */
export function parseSearch(text: string): Record<string, unknown> {
  const params = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name).map((value) => parsedJson(value) ?? value)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

/** The inverse of `parseSearch`, with the question mark; without undefined values. */
export const formatSearch = (search: Search): string => changedFrom('', search)

/** The present search with other values, without those that are undefined. What else it says stays, such as what is open. */
export const changedSearch = (changes: Search): string => changedFrom(location.search, changes)

function changedFrom(text: string, changes: Search): string {
  const params = new URLSearchParams(text)
  for (const [name, value] of Object.entries(changes)) {
    // A text that reads as JSON is quoted.
    const isPlain = typeof value === 'string' && parsedJson(value) === undefined
    if (value === undefined) params.delete(name)
    else params.set(name, isPlain ? value : JSON.stringify(value))
  }
  return params.size > 0 ? `?${params}` : ''
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
