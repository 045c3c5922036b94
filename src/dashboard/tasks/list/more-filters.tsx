import { ActionIcon, Button, Popover } from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import { type ComponentProps, cloneElement, type KeyboardEvent, type ReactElement, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { isDefaultView, isFiltered } from '../filters.ts'
import { DownloadCsv } from './download-csv.tsx'
import { FilterEditor } from './filter-editor.tsx'
import { isFlag, MORE_FILTERS, type MoreFilter, valueText } from './filter-texts.ts'
import styles from './more-filters.module.css'
import { SaveFilter } from './save-filter.tsx'

interface MoreFiltersProps {
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
}

const NAMES = Object.keys(MORE_FILTERS) as MoreFilter[]

/** A chip for each further filter that is set, and the menu that adds one. */
export default function MoreFilters({ filters, onChange }: MoreFiltersProps) {
  const chips = NAMES.filter((name) => filters[name] !== undefined)
  return (
    <>
      {chips.map((name) => (
        <span key={name} className={styles.chip}>
          <EditorPopover name={name} filters={filters} onChange={onChange}>
            {MORE_FILTERS[name]}: {valueText(name, filters)}
          </EditorPopover>
          <ActionIcon
            aria-label={`Remove filter ${MORE_FILTERS[name]}`}
            onClick={() => onChange({ [name]: undefined })}
          >
            <XIcon size={14} />
          </ActionIcon>
        </span>
      ))}
      {chips.length < NAMES.length && <AddFilter filters={filters} onChange={onChange} />}
      {isFiltered(filters) && !isDefaultView(filters) && <SaveFilter filters={filters} />}
      <DownloadCsv filters={filters} />
    </>
  )
}

/** Lists the filters that are not set; then shows the editor of the chosen one in the same place. */
function AddFilter({ filters, onChange }: MoreFiltersProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState<MoreFilter>()
  const toggle = (shouldOpen: boolean) => {
    setOpen(shouldOpen)
    if (shouldOpen) setName(undefined)
  }
  const pick = (picked: MoreFilter) => {
    if (picked !== 'includeArchived' && !isFlag(picked)) return setName(picked)
    setOpen(false)
    onChange({ [picked]: true })
  }
  return (
    <FilterPopover
      label={name ? MORE_FILTERS[name] : 'Add filter'}
      isOpen={isOpen}
      onToggle={toggle}
      button={
        <Button variant="subtle" color="gray" px={10} leftSection={<PlusIcon size={14} />}>
          Add filter
        </Button>
      }
    >
      {name ? (
        <FilterEditor
          key={name}
          name={name}
          filters={filters}
          onChange={onChange}
          onClose={() => setOpen(false)}
        />
      ) : (
        <ul className={styles.names} onKeyDown={moveFocus}>
          {NAMES.filter((one) => filters[one] === undefined).map((one, index) => (
            <li key={one}>
              <Button
                variant="subtle"
                color="gray"
                fullWidth
                justify="flex-start"
                data-autofocus={index === 0 || undefined}
                onClick={() => pick(one)}
              >
                {MORE_FILTERS[one]}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </FilterPopover>
  )
}

function EditorPopover({
  name,
  filters,
  onChange,
  children,
}: MoreFiltersProps & { name: MoreFilter; children: ComponentProps<'button'>['children'] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <FilterPopover
      label={MORE_FILTERS[name]}
      isOpen={isOpen}
      onToggle={setOpen}
      button={
        <Button variant="light" px={10}>
          {children}
        </Button>
      }
    >
      <FilterEditor name={name} filters={filters} onChange={onChange} onClose={() => setOpen(false)} />
    </FilterPopover>
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

interface FilterPopoverProps {
  label: string
  button: ReactElement<ComponentProps<'button'>>
  isOpen: boolean
  onToggle(isOpen: boolean): void
  children: ComponentProps<typeof Popover.Dropdown>['children']
}

function FilterPopover({ label, button, isOpen, onToggle, children }: FilterPopoverProps) {
  return (
    <Popover opened={isOpen} onChange={onToggle} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(button, { onClick: () => onToggle(!isOpen) })}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{children}</Popover.Dropdown>
    </Popover>
  )
}
