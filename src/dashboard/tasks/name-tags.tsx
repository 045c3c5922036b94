import { TagsInput, type TagsInputProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import styles from './name-tags.module.css'
import { rankNames } from './rank-names.ts'

const TYPING_MS = 150
/** As many as the service takes. */
const MAX_NAMES = 20

interface NameTagsProps extends Omit<TagsInputProps, 'value' | 'onChange' | 'data'> {
  kind: 'labels' | 'assignees'
  /** Whose names are suggested; those of all projects where there is none. */
  projectId: string | undefined
  value: string[]
  onChange(names: string[]): void
  /** Enter takes the first suggestion rather than what was typed: for what is chosen, not for what is made. */
  takesFirst?: boolean
}

/** Labels or assignees, with those that tasks have suggested by the service while somebody writes. */
export function NameTags({ kind, projectId, value, onChange, takesFirst = false, ...rest }: NameTagsProps) {
  const cache = useQueryClient()
  const [text, setText] = useState('')
  const [hasFocus, setFocus] = useState(false)
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS)
  const { data: names = [] } = useQuery({
    ...namesQuery(kind, projectId, typed),
    enabled: hasFocus && !rest.readOnly,
    placeholderData: keepPreviousData,
  })
  const counts = new Map(names.map(({ name, openCount }) => [name, openCount]))

  /** Before suggestions for what was typed are there, Enter waits for them. */
  async function takeFirst(event: KeyboardEvent<HTMLInputElement>) {
    const name = text.trim()
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || !name || isHighlighted(event.currentTarget))
      return
    event.preventDefault()
    const found = await cache.fetchQuery(namesQuery(kind, projectId, name)).catch(() => [])
    const [first = name] = rankNames(
      found.map((one) => one.name).filter((one) => !value.includes(one)),
      name,
    )
    setText('')
    if (!value.includes(first)) onChange([...value, first])
  }

  return (
    <TagsInput
      maxTags={MAX_NAMES}
      maxLength={100}
      {...rest}
      data={names.map(({ name }) => name)}
      filter={({ options, search }) =>
        rankNames(
          options.flatMap((option) => ('value' in option ? String(option.value) : [])),
          search,
        ).map((name) => ({ value: name, label: name }))
      }
      renderOption={({ option }) => (
        <span className={styles.option}>
          <span className="breakable">{option.value}</span>
          <span className="quiet" aria-hidden>
            {counts.get(String(option.value))?.toLocaleString()}
          </span>
        </span>
      )}
      selectFirstOptionOnChange={takesFirst && text.trim() !== ''}
      searchValue={text}
      onSearchChange={setText}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      {...(takesFirst && { onKeyDown: (event) => void takeFirst(event) })}
      value={value}
      onChange={onChange}
    />
  )
}

/** Whether Enter would take a suggestion by itself. */
const isHighlighted = (field: HTMLInputElement) => {
  const list = document.getElementById(field.getAttribute('aria-controls') ?? '')
  return Boolean(list?.querySelector('[data-combobox-selected]'))
}

const namesQuery = (kind: 'labels' | 'assignees', projectId: string | undefined, q: string) =>
  queryOptions({
    queryKey: ['names', kind, projectId ?? null, q],
    queryFn: async () => {
      const question = { params: { query: { ...(projectId && { projectId }), ...(q && { q }) } } }
      const { data } = await dataOf(
        kind === 'labels' ? api.GET('/api/labels', question) : api.GET('/api/assignees', question),
      )
      return data
    },
  })
