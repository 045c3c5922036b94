import { Button, Popover } from '@mantine/core'
import { cloneElement, type KeyboardEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { useOpened } from '../../navigation/use-opened.ts'
import { DownloadCsv } from './download-csv.tsx'
import { FilterEditor } from './filter-editor.tsx'
import { FILTER, FILTERS, type FilterName, isFlag, MAIN_FILTERS, valueText } from './filter-texts.ts'
import styles from './more-filters.module.css'

interface FilterPopoverProps {
  button: ButtonElement
  /** The filter to edit; without one, the popover lists those that the filter bar does not show. */
  name?: FilterName
  /** What the filter bar has no room for. */
  hidden?: readonly string[]
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
}

/** The button of a filter with its editor, at first open. */
export default function FilterPopover({ button, name, hidden = [], filters, onChange }: FilterPopoverProps) {
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  const [picked, setPicked] = useState<FilterName>()
  const { open } = useOpened('new')
  const view = name ?? picked
  const close = () => setOpen(false)
  const toggle = (shouldOpen: boolean) => {
    setOpen(shouldOpen)
    if (shouldOpen) setPicked(undefined)
  }
  const pick = (picked: FilterName) => {
    const isSetAtOnce = picked === 'includeArchived' || isFlag(picked)
    if (!isSetAtOnce || filters[picked] !== undefined) return setPicked(picked)
    close()
    onChange({ [picked]: true })
  }
  const save = () => {
    close()
    open(FILTER)
  }
  return (
    <Popover opened={isOpen} onChange={toggle} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(target, { onClick: () => toggle(!isOpen) })}</Popover.Target>
      <Popover.Dropdown
        aria-label={view ? FILTERS[view] : 'Filters'}
        mah="60vh"
        style={{ overflowY: 'auto' }}
      >
        {view ? (
          <div className="stack">
            <FilterEditor key={view} name={view} filters={filters} onChange={onChange} onClose={close} />
            {!name && filters[view] !== undefined && view !== 'includeArchived' && (
              <Button
                variant="subtle"
                onClick={() => {
                  close()
                  onChange({ [view]: undefined })
                }}
              >
                Remove filter
              </Button>
            )}
          </div>
        ) : (
          <Choices hidden={hidden} filters={filters} onPick={pick} onSave={save} />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

interface ChoicesProps {
  hidden: readonly string[]
  filters: TaskFilters
  onPick(view: FilterName): void
  onSave(): void
}

const NAMES = Object.keys(FILTERS) as FilterName[]

function Choices({ hidden, filters, onPick, onSave }: ChoicesProps) {
  const isListed = (name: FilterName) =>
    hidden.includes(name) || (!(name in MAIN_FILTERS) && filters[name] === undefined)
  return (
    <ul className={styles.names} onKeyDown={moveFocus}>
      {NAMES.filter(isListed).map((name, index) => (
        <li key={name}>
          <Button
            variant="subtle"
            color="gray"
            fullWidth
            justify="space-between"
            data-autofocus={index === 0 || undefined}
            rightSection={<bdi className={styles.value}>{valueText(name, filters)}</bdi>}
            onClick={() => onPick(name)}
          >
            {FILTERS[name]}
          </Button>
        </li>
      ))}
      {hidden.includes('save') && (
        <li>
          <Button variant="subtle" fullWidth justify="flex-start" onClick={onSave}>
            Save filter
          </Button>
        </li>
      )}
      {hidden.includes('csv') && (
        <li>
          <DownloadCsv filters={filters} isInMenu />
        </li>
      )}
    </ul>
  )
}

/** Arrow keys move between the filters. */
function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step) return
  event.preventDefault()
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const index = buttons.indexOf(document.activeElement as HTMLButtonElement)
  buttons[(index + step + buttons.length) % buttons.length]?.focus()
}
