import type { TaskFilters } from '../../api/queries.ts'
import { NameDialog } from '../../components/name-dialog.tsx'
import { toast } from '../../components/toast.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { formatFilters } from '../filters.ts'
import { filterTexts } from './filter-texts.ts'
import { MAX_FILTER_NAME, saveFilter } from './saved-filters.ts'

/** Saves the filters under a name. */
export default function SaveFilterDialog({ filters, onClose }: { filters: TaskFilters; onClose(): void }) {
  const { mutate, isBusy } = useMutation('saved-filters')
  const save = async (name: string) => {
    const made = await mutate("Couldn't save the filter", () => saveFilter({ name, filters }))
    if (made) toast.info(`Filter “${made.name}” saved`)
    return made
  }
  return (
    <NameDialog
      title="Save filter"
      verb="Save"
      draftName={`new-filter:${formatFilters(filters)}`}
      name={firstCharacters(filterTexts(filters).join(', '), MAX_FILTER_NAME)}
      maxLength={MAX_FILTER_NAME}
      isBusy={isBusy}
      onSave={save}
      onClose={onClose}
    />
  )
}
