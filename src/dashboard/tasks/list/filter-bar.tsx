import { ActionIcon, Button, type ButtonProps, TextInput } from '@mantine/core'
import { BookmarkIcon, SearchIcon, SortDescIcon } from '@primer/octicons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { preload } from '../../components/lazy.tsx'
import { MenuButton, OnDemand } from '../../components/menu-button.tsx'
import { toast } from '../../components/toast.ts'
import { takeAwaitedSearch } from '../../keyboard/pending-search.ts'
import { isCommand } from '../../keyboard/shortcuts.ts'
import { filtersFrom, isNarrowed, PRIORITIES, SORTS, SOURCES, STATUSES } from '../filters.ts'
import styles from '../tasks-page.module.css'
import { useSavedFilters } from './saved-filters.ts'

const LabelFilter = preload(() => import('./label-filter.tsx'))

const TYPING_MS = 250

/** One row of filters; what they say stands in the address bar. */
export function FilterBar({ filters }: { filters: TaskFilters }) {
  const navigate = useNavigate()
  const narrow = (change: Partial<TaskFilters>) =>
    navigate({
      to: '.',
      search: filtersFrom({ ...filters, ...change }),
      replace: 'q' in change,
    })

  return (
    <search className={styles.filters}>
      <SearchBox q={filters.q ?? ''} onSearch={(q) => narrow({ q: q || undefined })} />
      <div className={styles.options}>
        <Choice
          name="Status"
          options={STATUSES}
          chosen={filters.status ?? []}
          onChange={(status) => narrow({ status })}
        />
        <Choice
          name="Priority"
          options={PRIORITIES}
          chosen={filters.priority ?? []}
          onChange={(priority) => narrow({ priority })}
        />
        <Choice
          name="Source"
          options={SOURCES}
          chosen={filters.source ?? []}
          onChange={(source) => narrow({ source })}
        />
        <Labels
          projectId={filters.projectId}
          chosen={filters.label ?? []}
          onChange={(label) => narrow({ label })}
        />
        {isNarrowed(filters) && <Keep filters={filters} />}
        <Sort sort={filters.sort ?? '-createdAt'} onChange={(sort) => narrow({ sort })} />
      </div>
    </search>
  )
}

function SearchBox({ q, onSearch }: { q: string; onSearch(q: string): void }) {
  const [text, setText] = useState(q)
  const box = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const isAskedFor = useLocation({ select: ({ state }) => state.isSearching })
  const search = useRef((_: string) => {})
  // What this box asked for and the address may not have said yet: none of it may replace what was typed since.
  const asked = useRef([q])
  search.current = (words) => {
    asked.current.push(words)
    onSearch(words)
  }

  useEffect(() => {
    const isOwn = asked.current.includes(q)
    if (!isOwn || asked.current.at(-1) === q) asked.current = [q]
    if (!isOwn) setText(q)
  }, [q])
  useEffect(() => {
    if (text.trim() === q) return
    const timer = setTimeout(() => search.current(text.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, q])
  useEffect(() => {
    if (!isAskedFor) return
    box.current?.focus()
    const typed = takeAwaitedSearch()
    if (typed) setText(typed)
    // Once: whoever comes back to this page by the browser's buttons did not come to search.
    void navigate({ to: '.', search: true, replace: true, state: {} })
  }, [isAskedFor, navigate])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || !isCommand(event)) return
      event.preventDefault()
      box.current?.focus()
      box.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return (
    <TextInput
      ref={box}
      className={styles.search}
      type="search"
      aria-label="Search tasks"
      placeholder="Search"
      maxLength={200}
      leftSection={<SearchIcon size={15} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur()
        if (event.key === 'Enter') search.current(text.trim())
      }}
    />
  )
}

interface ChoiceProps<T extends string> {
  name: string
  options: Record<T, string>
  chosen: T[]
  onChange(chosen: T[] | undefined): void
}

function Choice<T extends string>({ name, options, chosen, onChange }: ChoiceProps<T>) {
  const words = chosen.map((value) => options[value])
  const toggled = (value: T) =>
    chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]
  return (
    <MenuButton
      button={<Chosen name={name} words={words} />}
      position="bottom-start"
      groups={[{ pickAny: optionsOf(options), chosen, onPick: (value) => onChange(toggled(value as T)) }]}
    />
  )
}

interface LabelsProps {
  projectId: string | undefined
  chosen: string[]
  onChange(labels: string[]): void
}

function Labels({ projectId, chosen, onChange }: LabelsProps) {
  const button = <Chosen name="Label" words={chosen} />
  return (
    <OnDemand button={button} kind="dialog">
      <LabelFilter button={button} projectId={projectId} chosen={chosen} onChange={onChange} />
    </OnDemand>
  )
}

/** The button of a filter: its name and, once something was chosen, what. */
function Chosen({ name, words, ...button }: { name: string; words: string[] } & ButtonProps) {
  const isSet = words.length > 0
  return (
    <Button {...button} variant={isSet ? 'light' : 'subtle'} color={isSet ? 'accent' : 'gray'} px={10}>
      {isSet ? `${name}: ${words.join(', ')}` : name}
    </Button>
  )
}

type SortName = NonNullable<TaskFilters['sort']>

function Sort({ sort, onChange }: { sort: SortName; onChange(sort: SortName | undefined): void }) {
  const pick = (value: string) => onChange(value === '-createdAt' ? undefined : (value as SortName))
  return (
    <MenuButton
      button={
        <Button variant="subtle" color="gray" px={10} className="push" aria-label={`Order: ${SORTS[sort]}`}>
          <SortDescIcon size={15} aria-hidden />
          <span className={styles.sort}>&nbsp;{SORTS[sort]}</span>
        </Button>
      }
      position="bottom-end"
      groups={[{ pickOne: optionsOf(SORTS), chosen: sort, onPick: pick }]}
    />
  )
}

const optionsOf = (words: Record<string, string>) =>
  Object.entries(words).map(([value, words]) => ({ value, words }))

/** Keeps what is filtered for now under My filters. */
function Keep({ filters }: { filters: TaskFilters }) {
  const [saved, setSaved] = useSavedFilters()
  const words = [
    filters.q && `“${filters.q}”`,
    ...(filters.status ?? []).map((value) => STATUSES[value]),
    ...(filters.priority ?? []).map((value) => PRIORITIES[value]),
    ...(filters.source ?? []).map((value) => SOURCES[value]),
    ...(filters.label ?? []),
  ]
  const name = words.filter(Boolean).join(', ')
  if (saved.some((other) => other.name === name)) return null
  return (
    <ActionIcon
      aria-label="Keep this filter"
      onClick={() => {
        setSaved([...saved, { name, filters }])
        toast.done(`Kept as “${name}” under My filters.`)
      }}
    >
      <BookmarkIcon size={16} />
    </ActionIcon>
  )
}
