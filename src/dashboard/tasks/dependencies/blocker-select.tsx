import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchTaskPage, MAX_QUERY, type Task, type TaskListItem } from '../../api/queries.ts'
import { selectHighlighted, selectNone } from '../../components/select-highlighted.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { TYPING_MS } from '../names.ts'
import styles from './dependencies.module.css'

const MAX_SUGGESTIONS = 20

interface BlockerSelectProps {
  task: Task
  onSelect(id: string): void
}

/** Finds a task of the same project that is not done, by words of its texts or its number at the code host. */
export function BlockerSelect({ task, onSelect }: BlockerSelectProps) {
  const [text, setText] = useState('')
  const [hasFocus, setFocus] = useState(false)
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS)
  const { data, isError } = useQuery({
    ...unfinishedQuery({ projectId: task.projectId, text: typed }),
    enabled: hasFocus,
    placeholderData: keepPreviousData,
  })
  const known = [task.id, ...task.blockedBy]
  const options = (data ?? []).filter(({ id }) => !known.includes(id))
  return (
    <Select
      variant="unstyled"
      size="sm"
      aria-label="Add a task that blocks this one"
      className={styles.add ?? ''}
      placeholder={task.blockedBy.length === 0 ? 'Add blocker' : 'Add another'}
      rightSection={null}
      comboboxProps={{ width: 320, position: 'bottom-start' }}
      searchable
      data={options.map((option) => ({ value: option.id, label: nameOf(option) }))}
      filter={({ options }) => options}
      nothingFoundMessage={isError ? 'Couldn’t load tasks' : data ? 'No matching open tasks' : 'Loading…'}
      wrapperProps={{ onKeyDownCapture: selectHighlighted(selectNone) }}
      value={null}
      searchValue={text}
      onSearchChange={setText}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      onChange={(id) => {
        if (!id) return
        setText('')
        onSelect(id)
      }}
    />
  )
}

/** The latest changed first. */
const unfinishedQuery = ({ projectId, text }: { projectId: string; text: string }) =>
  queryOptions({
    queryKey: ['unfinished', projectId, text],
    queryFn: async ({ signal }) => {
      const filters = {
        projectId,
        status: ['open' as const, 'in_progress' as const],
        sort: '-updatedAt' as const,
      }
      const { data } = await fetchTaskPage(
        { ...filters, limit: MAX_SUGGESTIONS, ...(text && { q: firstCharacters(text, MAX_QUERY) }) },
        signal,
      )
      return data
    },
  })

function nameOf({ title, codehostIssueNumber, codehostPrNumber }: TaskListItem): string {
  const number = codehostIssueNumber ?? codehostPrNumber
  return number === null ? title : `#${number} ${title}`
}
