import { Pill, TagsInput, type TagsInputProps } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import { selectHighlighted } from '../components/select-highlighted.ts'
import { type LabelColors, LabelDot } from './label-colors.tsx'
import styles from './name-tags.module.css'
import { namesQuery, rankOptions, useNames } from './names.ts'
import { rankNames } from './rank-names.ts'

/** The API's limit. */
const MAX_NAMES = 20

interface NameTagsProps extends Omit<TagsInputProps, 'value' | 'onChange' | 'data'> {
  kind: 'labels' | 'assignees'
  /** Limits the suggestions to a project. */
  projectId: string | undefined
  value: string[]
  /** Those of selected labels. */
  colors?: LabelColors
  onChange(names: string[]): void
  /** Enter selects the first suggestion instead of the typed text. */
  selectsFirst?: boolean
  /** Shows the first few names and the number of others until it has the focus. */
  isCompact?: boolean
}

const COMPACT_NAMES = 2

/** An input for labels or assignees with suggestions from the API. */
export function NameTags({
  kind,
  projectId,
  value,
  colors,
  onChange,
  selectsFirst = false,
  isCompact = false,
  ...rest
}: NameTagsProps) {
  const queryClient = useQueryClient()
  const [text, setText] = useState('')
  const [hasFocus, setFocus] = useState(false)
  const names = useNames({ kind, projectId, text, isEnabled: hasFocus && !rest.readOnly })
  const byName = new Map(names.map((each) => [each.name, each]))
  const shown = isCompact && !hasFocus ? value.slice(0, COMPACT_NAMES) : value

  /** Waits for the suggestions of the typed text. */
  async function selectFirst(event: KeyboardEvent) {
    const name = text.trim()
    if (!name) return
    event.preventDefault()
    event.stopPropagation()
    const suggestions = await queryClient
      .fetchQuery(namesQuery({ kind, projectId, text: name }))
      .catch(() => [])
    const [first = name] = rankNames(
      suggestions.map((one) => one.name).filter((one) => !value.includes(one)),
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
          <span className="breakable">
            <LabelDot color={byName.get(String(option.value))?.color} />
            <bdi>{option.value}</bdi>
          </span>
          <span className="quiet" aria-hidden>
            {byName.get(String(option.value))?.openCount.toLocaleString()}
          </span>
        </span>
      )}
      renderPill={({ option, onRemove }) =>
        shown.includes(String(option.value)) ? (
          <Pill withRemoveButton={!rest.readOnly} onRemove={onRemove}>
            <LabelDot color={colors?.get(String(option.value).toLowerCase())} />
            <bdi>{option.value}</bdi>
          </Pill>
        ) : (
          option.value === value[shown.length] && (
            <span className="quiet" title={value.join(', ')}>
              +{value.length - shown.length}
            </span>
          )
        )
      }
      selectFirstOptionOnChange={selectsFirst && text.trim() !== ''}
      searchValue={text}
      onSearchChange={setText}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      wrapperProps={{
        onKeyDownCapture: selectHighlighted((event) => void (selectsFirst && selectFirst(event))),
      }}
      value={value}
      onChange={onChange}
    />
  )
}
