import { Button, Popover, TextInput } from '@mantine/core'
import { cloneElement, type FormEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { filterTexts } from './filter-texts.ts'
import { MAX_FILTER_NAME, saveFilter } from './saved-filters.ts'

interface SaveFilterPopoverProps {
  button: ButtonElement
  filters: TaskFilters
}

/** The button that saves the filters under a name, at first open. */
export default function SaveFilterPopover({ button, filters }: SaveFilterPopoverProps) {
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(target, { onClick: () => setOpen(!isOpen) })}</Popover.Target>
      <Popover.Dropdown aria-label="Save filter">
        <SaveFilterForm filters={filters} onClose={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

export function SaveFilterForm({ filters, onClose }: { filters: TaskFilters; onClose(): void }) {
  const { mutate, isBusy } = useMutation('saved-filters')
  const [name, setName] = useState(() => firstCharacters(filterTexts(filters).join(', '), MAX_FILTER_NAME))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const made = await mutate("Couldn't save the filter", () => saveFilter({ name: name.trim(), filters }))
    if (!made) return
    onClose()
    toast.info(`Filter “${made.name}” saved`)
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="row">
      <TextInput
        aria-label="Name of the filter"
        dir="auto"
        data-autofocus
        maxLength={MAX_FILTER_NAME}
        w={220}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
        Save
      </Button>
    </form>
  )
}
