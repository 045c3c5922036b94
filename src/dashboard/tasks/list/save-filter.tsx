import { Button, Popover, TextInput } from '@mantine/core'
import { cloneElement, type FormEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { filterTexts } from './filter-texts.ts'
import { MAX_FILTER_NAME, saveFilter } from './saved-filters.ts'

/** The button that saves the filters under a name, at first open. */
export default function SaveFilterPopover({
  button,
  filters,
}: {
  button: ButtonElement
  filters: TaskFilters
}) {
  const { mutate, isBusy } = useMutation('saved-filters')
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  const suggestion = () => firstCharacters(filterTexts(filters).join(', '), MAX_FILTER_NAME)
  const [name, setName] = useState(suggestion)

  const open = () => {
    setName(suggestion())
    setOpen(true)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const made = await mutate("Couldn't save the filter", () => saveFilter({ name: name.trim(), filters }))
    if (!made) return
    setOpen(false)
    toast.info(`Filter “${made.name}” saved`)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>
        {cloneElement(target, { onClick: () => (isOpen ? setOpen(false) : open()) })}
      </Popover.Target>
      <Popover.Dropdown aria-label="Save filter">
        <form onSubmit={(event) => void submit(event)} className="row">
          <TextInput
            aria-label="Name of the filter"
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
      </Popover.Dropdown>
    </Popover>
  )
}
