import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { peopleQuery } from '../api/people-queries.ts'
import { useMe } from '../session/session.ts'
import { namesQuery, TYPING_MS } from '../tasks/names.ts'

export type Person = Pick<Schema<'Person'>, 'username' | 'name'>

export interface Suggestion {
  name: string
  openCount: number
}

interface TypedNames {
  kind: 'labels' | 'assignees'
  projectId: string | undefined
  text: string
  isEnabled?: boolean
}

/** The names in use that match what was typed. */
export function useTypedNames({ kind, projectId, text, isEnabled = true }: TypedNames) {
  const queryClient = useQueryClient()
  const name = text.trim()
  const [typed] = useDebouncedValue(name, TYPING_MS)
  const queried = name && typed
  const queryOf = (text: string) => namesQuery({ kind, projectId, text })
  const { data, ...query } = useQuery({
    ...queryOf(queried),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  })
  const suggestions: Suggestion[] = data ?? []
  return {
    data: suggestions,
    /** Whether they belong to the text. */
    isSettled: !isEnabled || (queried === name && !query.isFetching),
    /** Whether they did, and may be loading again. */
    isShown: query.isSuccess && !query.isPlaceholderData,
    load: () => queryClient.fetchQuery(queryOf(name)).catch(() => suggestions),
  }
}

/** Those who can be assigned, with oneself first. */
export function usePeople({ isEnabled }: { isEnabled: boolean }) {
  const queryClient = useQueryClient()
  const { me } = useMe()
  const { data = [], isLoading } = useQuery({ ...peopleQuery, enabled: isEnabled })
  const withMe = (people: Person[]): Person[] =>
    me?.user ? [{ ...me.user, name: `${me.user.name} (you)` }, ...others(people, me.user)] : people
  return {
    data: isEnabled ? withMe(data) : [],
    isLoading,
    load: async () =>
      isEnabled ? withMe(await queryClient.ensureQueryData(peopleQuery).catch(() => data)) : [],
  }
}

const others = (people: Person[], { username }: Person) => people.filter((one) => one.username !== username)
