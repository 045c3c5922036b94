import { ActionIcon, Button } from '@mantine/core'
import { BookmarkIcon, PlusIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { TaskFilters } from '../../api/queries.ts'
import { preload } from '../../components/lazy.tsx'
import { OnDemand } from '../../components/menu-button.tsx'
import type { ButtonElement } from '../../components/use-open-state.ts'
import { formatFilters, isDefaultView, isFiltered, validFilters } from '../filters.ts'
import { DownloadCsv } from './download-csv.tsx'
import { FILTER_NAMES, MORE_FILTERS, type MoreFilter, valueText } from './filter-texts.ts'
import styles from './more-filters.module.css'
import { savedFiltersQuery } from './saved-filters.ts'

const FilterPopover = preload(() => import('./filter-popover.tsx'))
const SaveFilterPopover = preload(() => import('./save-filter.tsx'))

interface MoreFiltersProps {
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
}

/** A chip for each further filter that is set, and the menu that adds one. */
export default function MoreFilters({ filters, onChange }: MoreFiltersProps) {
  const chips = FILTER_NAMES.filter((name) => filters[name] !== undefined)
  const editor = (button: ButtonElement, name?: MoreFilter) => (
    <OnDemand button={button} kind="dialog">
      <FilterPopover button={button} {...(name && { name })} filters={filters} onChange={onChange} />
    </OnDemand>
  )
  return (
    <>
      {chips.map((name) => (
        <span key={name} className={styles.chip}>
          {editor(
            <Button variant="light" px={10}>
              {MORE_FILTERS[name]}: {valueText(name, filters)}
            </Button>,
            name,
          )}
          <ActionIcon
            aria-label={`Remove filter ${MORE_FILTERS[name]}`}
            onClick={() => onChange({ [name]: undefined })}
          >
            <XIcon size={14} />
          </ActionIcon>
        </span>
      ))}
      {chips.length < FILTER_NAMES.length &&
        editor(
          <Button variant="subtle" color="gray" px={10} leftSection={<PlusIcon size={14} />}>
            Add filter
          </Button>,
        )}
      {isFiltered(filters) && !isDefaultView(filters) && <SaveFilter filters={filters} />}
      <DownloadCsv filters={filters} />
    </>
  )
}

/** Absent where the filters are saved. */
function SaveFilter({ filters }: { filters: TaskFilters }) {
  const { data: saved } = useQuery(savedFiltersQuery)
  const addressOf = (some: object) => formatFilters(validFilters({ ...some }))
  if (!saved || saved.some(({ query }) => addressOf(query) === addressOf(filters))) return null
  const button = (
    <ActionIcon aria-label="Save filter">
      <BookmarkIcon size={16} />
    </ActionIcon>
  )
  return (
    <OnDemand button={button} kind="dialog">
      <SaveFilterPopover button={button} filters={filters} />
    </OnDemand>
  )
}
