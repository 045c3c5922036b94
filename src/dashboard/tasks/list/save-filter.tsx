import { ActionIcon, Button, Popover, TextInput } from '@mantine/core'
import { BookmarkIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { formatFilters, validFilters } from '../filters.ts'
import { filterTexts } from './filter-texts.ts'
import { MAX_FILTER_NAME, savedFiltersQuery, saveFilter } from './saved-filters.ts'

/** Saves the filters under a name; absent where they are saved. */
export function SaveFilter({ filters }: { filters: TaskFilters }) {
  const { data: saved } = useQuery(savedFiltersQuery)
  const { mutate, isBusy } = useMutation('saved-filters')
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const addressOf = (some: object) => formatFilters(validFilters({ ...some }))
  if (!saved || saved.some(({ query }) => addressOf(query) === addressOf(filters))) return null

  const open = () => {
    setName(firstCharacters(filterTexts(filters).join(', '), MAX_FILTER_NAME))
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
        <ActionIcon aria-label="Save filter" onClick={() => (isOpen ? setOpen(false) : open())}>
          <BookmarkIcon size={16} />
        </ActionIcon>
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
