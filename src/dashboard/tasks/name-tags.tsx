import { TagsInput, type TagsInputProps } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import styles from './name-tags.module.css'
import { namesQuery, rankOptions, useNames } from './names.ts'
import { rankNames } from './rank-names.ts'

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
  const names = useNames({ kind, projectId, text, isEnabled: hasFocus && !rest.readOnly })
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
      filter={rankOptions}
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
