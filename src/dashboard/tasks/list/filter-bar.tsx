import { ActionIcon, Button, type ButtonProps } from '@mantine/core'
import { FilterIcon, SortDescIcon, XIcon } from '@primer/octicons-react'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { DEFAULT_SORT, MAX_QUERY, type TaskFilters } from '../../api/queries.ts'
import { isEnter } from '../../components/is-enter.ts'
import { preload } from '../../components/lazy.tsx'
import { MenuButton, OnDemand } from '../../components/menu-button.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { useOverflow } from '../../components/use-overflow.ts'
import { areKeysHeld } from '../../keyboard/key-queue.ts'
import { isShortcut, loadReleaseKeys } from '../../keyboard/shortcuts.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { PRIORITIES, SORTS, SOURCES, STATUSES, searchWithFilters, validFilters } from '../filters.ts'
import styles from '../tasks-page.module.css'
import { FilterButton, FilterMenu, toOptions } from './filter-menu.tsx'

const LabelFilter = preload(() => import('./label-filter.tsx'))
const FilterPopover = preload(() => import('./filter-popover.tsx'))
const MoreFilters = preload(() => import('./more-filters.tsx'))

const DEBOUNCE_MS = 250

/** The filters, whose state is the address bar, in one line: what does not fit is in the menu "Filters". */
export function FilterBar({ filters }: { filters: TaskFilters }) {
  const [, navigate] = useLocation()
  function applyChange(change: Partial<TaskFilters>) {
    // A search that was typed just before may come when the page is being left.
    if (!location.pathname.startsWith('/tasks')) return
    const search = searchWithFilters(validFilters({ ...filters, ...change }))
    if ('q' in change) navigate(location.pathname + search, { replace: true, state: history.state })
    else navigate(location.pathname + search)
  }

  const { ref, hidden } = useOverflow()
  const menuButton = <MenuOfFilters hiddenCount={hidden.filter((name) => name in filters).length} />

  return (
    <search className={styles.filters}>
      <SearchBox q={filters.q ?? ''} onSearch={(q) => applyChange({ q: q || undefined })} />
      <div ref={ref} className={styles.options}>
        <span data-item="status">
          <FilterMenu
            name="Status"
            options={STATUSES}
            selected={filters.status ?? []}
            onChange={(status) => applyChange({ status })}
          />
          {filters.status && (
            <ActionIcon aria-label="Remove filter Status" onClick={() => applyChange({ status: undefined })}>
              <XIcon size={14} />
            </ActionIcon>
          )}
        </span>
        <span data-item="priority">
          <FilterMenu
            name="Priority"
            options={PRIORITIES}
            selected={filters.priority ?? []}
            onChange={(priority) => applyChange({ priority })}
          />
        </span>
        <span data-item="source">
          <FilterMenu
            name="Source"
            options={SOURCES}
            selected={filters.source ?? []}
            onChange={(source) => applyChange({ source })}
          />
        </span>
        <span data-item="label">
          <LabelMenu
            projectId={filters.projectId}
            selected={filters.label ?? []}
            onChange={(label) => applyChange({ label })}
          />
        </span>
        <Suspense>
          <MoreFilters filters={filters} onChange={applyChange} />
        </Suspense>
      </div>
      <OnDemand button={menuButton} kind="dialog">
        <FilterPopover button={menuButton} hidden={hidden} filters={filters} onChange={applyChange} />
      </OnDemand>
      <SortMenu sort={filters.sort ?? DEFAULT_SORT} onChange={(sort) => applyChange({ sort })} />
    </search>
  )
}

function SearchBox({ q, onSearch }: { q: string; onSearch(q: string): void }) {
  const [text, setText] = useState(q)
  const inputRef = useRef<HTMLInputElement>(null)
  const search = useRef((_: string) => {})
  // Searches that this input started and that may not be in the address yet. None of them may replace newer
  // input.
  const ownQueries = useRef([q])
  search.current = (query) => {
    ownQueries.current.push(query)
    onSearch(query)
  }

  useEffect(() => {
    const isOwn = ownQueries.current.includes(q)
    if (!isOwn || ownQueries.current.at(-1) === q) ownQueries.current = [q]
    if (!isOwn) setText(q)
  }, [q])
  useEffect(() => {
    if (text.trim() === q) return
    const timer = setTimeout(() => search.current(text.trim()), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text, q])
  // Another page asked for it with a key.
  useEffect(() => {
    if (!areKeysHeld()) return
    void loadReleaseKeys().then(({ releaseKeys }) => {
      inputRef.current?.focus()
      releaseKeys()
    })
  }, [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || !isShortcut(event)) return
      event.preventDefault()
      inputRef.current?.focus()
      inputRef.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return (
    <SearchInput
      ref={inputRef}
      className={styles.search}
      aria-label="Search tasks"
      placeholder="Search"
      value={text}
      onChange={(event) => setText(firstCharacters(event.currentTarget.value, MAX_QUERY))}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur()
        if (isEnter(event)) search.current(text.trim())
      }}
    />
  )
}

interface LabelMenuProps {
  projectId: string | undefined
  selected: string[]
  onChange(labels: string[]): void
}

function LabelMenu({ projectId, selected, onChange }: LabelMenuProps) {
  const button = <FilterButton name="Label" labels={selected} />
  return (
    <OnDemand button={button} kind="dialog">
      <LabelFilter button={button} projectId={projectId} selected={selected} onChange={onChange} />
    </OnDemand>
  )
}

function MenuOfFilters({ hiddenCount, ...button }: { hiddenCount: number } & ButtonProps) {
  const isSet = hiddenCount > 0
  return (
    <Button {...button} variant={isSet ? 'light' : 'subtle'} color={isSet ? 'accent' : 'gray'} px={10}>
      <FilterIcon size={15} aria-hidden />
      <span className={styles.word}>&nbsp;Filters</span>
      {isSet && <>&nbsp;{hiddenCount}</>}
    </Button>
  )
}

type SortName = NonNullable<TaskFilters['sort']>

function SortMenu({ sort, onChange }: { sort: SortName; onChange(sort: SortName | undefined): void }) {
  const onSelect = (value: string) => onChange(value === DEFAULT_SORT ? undefined : (value as SortName))
  return (
    <MenuButton
      button={
        <Button variant="subtle" color="gray" px={10} aria-label={`Order: ${SORTS[sort]}`}>
          <SortDescIcon size={15} aria-hidden />
          <span className={styles.sort}>&nbsp;{SORTS[sort]}</span>
        </Button>
      }
      position="bottom-end"
      groups={[{ radioItems: toOptions(SORTS), selected: sort, onSelect }]}
    />
  )
}
