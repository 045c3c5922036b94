import { Button, Popover } from '@mantine/core'
import { cloneElement, type KeyboardEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { FilterEditor } from './filter-editor.tsx'
import { FILTER_NAMES, isFlag, MORE_FILTERS, type MoreFilter } from './filter-texts.ts'
import styles from './more-filters.module.css'

interface FilterPopoverProps {
  button: ButtonElement
  /** The filter to edit; without one, the popover offers those that are not set. */
  name?: MoreFilter
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
}

/** The button of a filter with its editor, at first open. */
export default function FilterPopover({ button, name: edited, filters, onChange }: FilterPopoverProps) {
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  const [picked, setPicked] = useState<MoreFilter>()
  const name = edited ?? picked
  const toggle = (shouldOpen: boolean) => {
    setOpen(shouldOpen)
    if (shouldOpen) setPicked(undefined)
  }
  const pick = (picked: MoreFilter) => {
    if (picked !== 'includeArchived' && !isFlag(picked)) return setPicked(picked)
    setOpen(false)
    onChange({ [picked]: true })
  }
  return (
    <Popover opened={isOpen} onChange={toggle} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(target, { onClick: () => toggle(!isOpen) })}</Popover.Target>
      <Popover.Dropdown aria-label={name ? MORE_FILTERS[name] : 'Add filter'}>
        {name ? (
          <FilterEditor
            key={name}
            name={name}
            filters={filters}
            onChange={onChange}
            onClose={() => setOpen(false)}
          />
        ) : (
          <FilterNames names={FILTER_NAMES.filter((one) => filters[one] === undefined)} onPick={pick} />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

function FilterNames({ names, onPick }: { names: MoreFilter[]; onPick(name: MoreFilter): void }) {
  return (
    <ul className={styles.names} onKeyDown={moveFocus}>
      {names.map((name, index) => (
        <li key={name}>
          <Button
            variant="subtle"
            color="gray"
            fullWidth
            justify="flex-start"
            data-autofocus={index === 0 || undefined}
            onClick={() => onPick(name)}
          >
            {MORE_FILTERS[name]}
          </Button>
        </li>
      ))}
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
