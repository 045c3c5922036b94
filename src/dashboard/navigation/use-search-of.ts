import { useMemo } from 'react'
import { useSearchString } from './location-provider.tsx'
import { parseSearch } from './search-params.ts'

/** What `read` finds in the address: the same object until that changes, whatever else the address says. */
export function useSearchOf<Found>(read: (search: Record<string, unknown>) => Found): Found {
  const text = JSON.stringify(read(parseSearch(useSearchString())))
  return useMemo(() => JSON.parse(text), [text])
}
