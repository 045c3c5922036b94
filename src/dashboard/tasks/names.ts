import type { OptionsFilter } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { firstCharacters } from '../lib/first-characters.ts'
import { rankNames } from './rank-names.ts'

export const TYPING_MS = 150

/** More than a person looks through. */
const MAX_SUGGESTED = 100

interface NamesQuery {
  kind: 'labels' | 'assignees'
  /** Limits the suggestions to a project. */
  projectId: string | undefined
  /** What was typed. */
  text: string
}

/** The labels or assignees of tasks that match a text, as the service suggests them. */
export function useNames({ kind, projectId, text, isEnabled }: NamesQuery & { isEnabled: boolean }) {
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS)
  const { data = [] } = useQuery({
    ...namesQuery({ kind, projectId, text: typed }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  })
  return data
}

/** Suggestions in the order of `rankNames`, without those that do not match. */
export const rankOptions: OptionsFilter = ({ options, search }) =>
  rankNames(
    options.flatMap((option) => ('value' in option ? String(option.value) : [])),
    search,
  ).map((name) => ({ value: name, label: name }))

/** The API's limit. */
const MAX_TEXT = 100

export const namesQuery = ({ kind, projectId, text }: NamesQuery) =>
  queryOptions({
    queryKey: ['names', kind, projectId ?? null, text],
    queryFn: async () => {
      const query = {
        limit: MAX_SUGGESTED,
        ...(projectId && { projectId }),
        ...(text && { q: firstCharacters(text, MAX_TEXT) }),
      }
      const options = { params: { query } }
      const { data } = await dataOf(
        kind === 'labels' ? api.GET('/api/labels', options) : api.GET('/api/assignees', options),
      )
      return data
    },
  })
