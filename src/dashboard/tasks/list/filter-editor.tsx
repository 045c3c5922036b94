import { Button, Checkbox, SegmentedControl, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { KINDS } from '../filters.ts'
import { CHOICES, FILTERS, type FilterName, hasChoices, isFlag } from './filter-texts.ts'
import { NameFilter } from './name-filter.tsx'

interface FilterEditorProps {
  name: FilterName
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
  onClose(): void
}

/** Edits the value of one filter. */
export function FilterEditor(props: FilterEditorProps) {
  const { name, filters, onChange, onClose } = props
  if (hasChoices(name)) return <ChoiceEditor {...props} name={name} />
  if (name === 'label')
    return (
      <NameFilter
        kind="labels"
        projectId={filters.projectId}
        aria-label="Filter by label"
        placeholder="Select or enter a label"
        description="Shows tasks with any of these labels."
        w={260}
        value={filters.label ?? []}
        onChange={(names) => onChange({ label: names.length > 0 ? names : undefined })}
      />
    )
  if (name === 'assignee')
    return (
      <NameFilter
        kind="assignees"
        projectId={filters.projectId}
        aria-label="Filter by assignee"
        placeholder="Select or enter a name"
        description="Shows tasks assigned to any of these people. Enter “none” for tasks without assignees."
        w={280}
        value={filters.assignee ?? []}
        onChange={(names) => onChange({ assignee: names.length > 0 ? names : undefined })}
      />
    )
  if (name === 'kind')
    return (
      <SegmentedControl
        aria-label="Kind"
        fullWidth
        w={240}
        data-autofocus
        data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
        value={filters.kind ?? ''}
        onChange={(kind) => onChange({ kind: kind as NonNullable<TaskFilters['kind']> })}
      />
    )
  if (isFlag(name))
    return (
      <SegmentedControl
        aria-label={FILTERS[name]}
        fullWidth
        w={240}
        data-autofocus
        data={[
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]}
        value={String(filters[name] ?? '')}
        onChange={(value) => onChange({ [name]: value === 'true' })}
      />
    )
  if (name === 'includeArchived')
    return (
      <Button
        variant="subtle"
        data-autofocus
        onClick={() => {
          onClose()
          onChange({ includeArchived: undefined })
        }}
      >
        Exclude archived projects
      </Button>
    )
  return <TextEditor {...props} name={name} />
}

function ChoiceEditor({ name, filters, onChange }: FilterEditorProps & { name: keyof typeof CHOICES }) {
  // Local state, because the address updates later: two quick choices must both count.
  const [selected, setSelected] = useState<string[]>(filters[name] ?? [])
  const select = (values: string[]) => {
    setSelected(values)
    onChange({ [name]: values.length > 0 ? values : undefined })
  }
  return (
    <Checkbox.Group aria-label={FILTERS[name]} value={selected} onChange={select}>
      <div className="stack">
        {Object.entries(CHOICES[name]).map(([value, label], index) => (
          <Checkbox key={value} value={value} label={label} data-autofocus={index === 0 || undefined} />
        ))}
      </div>
    </Checkbox.Group>
  )
}

type TextFilter = Exclude<
  FilterName,
  keyof typeof CHOICES | 'label' | 'assignee' | 'kind' | 'isReady' | 'claimed' | 'includeArchived'
>

function TextEditor({ name, filters, onChange, onClose }: FilterEditorProps & { name: TextFilter }) {
  const [text, setText] = useState(textOf(name, filters))
  const change = changeOf(name, text.trim())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!change) return
    onClose()
    onChange(change)
  }
  return (
    <form onSubmit={submit} className="row">
      <TextInput
        aria-label={FILTERS[name]}
        data-autofocus
        maxLength={255}
        {...(isTime(name) ? { type: 'date' } : isNumber(name) && { inputMode: 'numeric', placeholder: '42' })}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!change}>
        Apply
      </Button>
    </form>
  )
}

const isTime = (name: TextFilter) => name.endsWith('Since')
const isNumber = (name: TextFilter) => name.startsWith('codehost')

/** As the input shows it; a time as its day here. */
function textOf(name: TextFilter, filters: TaskFilters): string {
  const value = [filters[name] ?? ''].flat().join()
  if (!isTime(name) || value === '') return value
  const time = new Date(value)
  const padded = (number: number) => String(number).padStart(2, '0')
  return `${time.getFullYear()}-${padded(time.getMonth() + 1)}-${padded(time.getDate())}`
}

/** Undefined while the text is no value. */
function changeOf(name: TextFilter, text: string): Partial<TaskFilters> | undefined {
  if (text === '') return undefined
  if (isTime(name)) {
    const midnight = new Date(`${text}T00:00`)
    return Number.isNaN(midnight.getTime()) ? undefined : { [name]: midnight.toISOString() }
  }
  if (!isNumber(name)) return { [name]: [text] }
  const number = /^#?(\d{1,9})$/.exec(text)?.[1]
  return number && Number(number) > 0 ? { [name]: Number(number) } : undefined
}
