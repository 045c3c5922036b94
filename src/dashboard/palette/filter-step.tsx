import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { DEFAULT_SORT, projectsQuery, type TaskFilters } from '../api/queries.ts'
import { parseSearch } from '../navigation/search-params.ts'
import { useMe } from '../session/session.ts'
import { filtersFrom, KINDS, NOT_DONE, SORTS, searchWithFilters, validFilters } from '../tasks/filters.ts'
import { CHOICES, FILTERS } from '../tasks/list/filter-texts.ts'
import { listPathOf } from '../tasks/open-task.ts'
import { searchWithTriage, triageSearchOf } from '../tasks/triage/triage-filters.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import type { ListProps } from './property-steps.tsx'
import { usePeople, useTypedNames } from './typed-names.ts'

const FIELDS = ['status', 'priority', 'source', 'label', 'assignee', 'kind'] as const
type Field = (typeof FIELDS)[number]

const VALUES: { [field in Field]?: Record<string, string> } = { ...CHOICES, kind: KINDS }

/** Filters the list: by which property, then by which of its values. */
export function FilterStep(props: ListProps) {
  const [field, setField] = useState<Field>()
  const back = () => setField(undefined)
  return field ? (
    <ValueFilter key={field} {...props} field={field} onBack={back} />
  ) : (
    <FieldList {...props} onPick={setField} />
  )
}

function FieldList({ onPick, ...rest }: ListProps & { onPick(field: Field): void }) {
  const [text, setText] = useState('')
  const apply = useApplyFilters()
  const username = useMe().me?.user?.username
  const command = (label: string, change: Partial<TaskFilters>): Option => ({
    id: label,
    label,
    group: 'Filter',
    run: () => apply(() => change),
  })
  const toStep = (field: Field): Option => ({
    id: field,
    label: `${FILTERS[field]}…`,
    group: 'Filter',
    isStep: true,
    run: () => onPick(field),
  })
  const { data: projects = [] } = useQuery(projectsQuery)
  const active = projects.filter(({ archivedAt }) => archivedAt === null)
  const ofTriage = [
    toStep('source'),
    command('All projects', { projectId: undefined }),
    ...active.map(({ id, name }) => command(`Project: ${name}`, { projectId: id })),
  ]
  const ofList = [
    ...FIELDS.map(toStep),
    ...(username ? [command('Assigned to me', { assignee: [username] })] : []),
    command('Not assigned', { assignee: ['none'] }),
    { ...command('Clear all filters', {}), run: () => apply(clearedFilters) },
  ]
  return (
    <OptionList
      {...rest}
      label="Filter by"
      placeholder="Filter by…"
      options={isTriage() ? ofTriage : ofList}
      text={text}
      onType={setText}
      isNumbered
      isSettled
    />
  )
}

const isTriage = () => listPathOf(location.pathname) === '/triage'

/** The project and the order stay. */
const clearedFilters = (filters: TaskFilters): Partial<TaskFilters> => ({
  ...Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])),
  projectId: filters.projectId,
  listId: filters.listId,
  sort: filters.sort,
  status: NOT_DONE,
})

interface ValueFilterProps extends ListProps {
  field: Field
}

function ValueFilter({ field, ...rest }: ValueFilterProps) {
  const [text, setText] = useState('')
  const filters = useFilters()
  const apply = useApplyFilters()
  const selected = [filters[field] ?? []].flat() as string[]
  const values = VALUES[field]
  const names = useTypedNames({
    kind: field === 'label' ? 'labels' : 'assignees',
    projectId: filters.projectId,
    text,
    isEnabled: !values,
  })
  const people = usePeople({ isEnabled: field === 'assignee' })
  const toOption = (value: string, label = value): Option => ({
    id: value,
    label,
    group: FILTERS[field],
    isCurrent: selected.includes(value),
    run: () => apply((now) => ({ [field]: toggled(now[field], { field, value }) })),
  })
  function optionsOf(
    suggestions: { name: string }[],
    persons: { username: string; name: string }[],
  ): Option[] {
    if (values) return Object.entries(values).map(([value, label]) => toOption(value, label))
    const fullNames = new Map(persons.map(({ username, name }) => [username, name]))
    const known = new Set([...fullNames.keys(), ...selected, ...suggestions.map(({ name }) => name)])
    return [...known].map((name) => ({
      ...toOption(name, name === 'none' ? 'None' : name),
      aside: fullNames.get(name),
      keywords: fullNames.get(name) ?? '',
    }))
  }
  const [isSettled, isShown] = [names.isSettled && !people.isLoading, names.isShown && !people.isLoading]
  return (
    <OptionList
      {...rest}
      label={`Filter by ${FILTERS[field].toLowerCase()}`}
      placeholder={`Filter by ${FILTERS[field].toLowerCase()}…`}
      options={optionsOf(names.data, people.data)}
      text={text}
      onType={setText}
      isNumbered
      isSettled={isSettled}
      isShown={values !== undefined || isShown}
      {...(!values && { resolve: async () => optionsOf(await names.load(), await people.load()) })}
      staysOpen
      hint="Enter or a number adds or removes a filter. Esc closes."
    />
  )
}

/** The order of the list. */
export function SortStep(props: ListProps) {
  const [text, setText] = useState('')
  const { sort: current = DEFAULT_SORT } = useFilters()
  const apply = useApplyFilters()
  const options = (Object.entries(SORTS) as [keyof typeof SORTS, string][]).map(
    ([sort, label]): Option => ({
      id: sort,
      label,
      group: 'Order',
      isCurrent: sort === current,
      run: () => apply(() => ({ sort: sort === DEFAULT_SORT ? undefined : sort })),
    }),
  )
  return (
    <OptionList
      {...props}
      label="Sort by"
      placeholder="Sort by…"
      options={options}
      text={text}
      onType={setText}
      isNumbered
      isSettled
    />
  )
}

/** Changes the filters of the address, which may be ahead of the list that is shown. */
function useApplyFilters() {
  const [, navigate] = useLocation()
  return (changeOf: (now: TaskFilters) => Partial<TaskFilters>) => {
    const search = parseSearch(location.search)
    const now = filtersFrom(search)
    // That page has filters of its own.
    if (isTriage())
      return navigate(location.pathname + searchWithTriage(triageSearchOf({ ...search, ...changeOf(now) })))
    navigate(location.pathname + searchWithFilters(validFilters({ ...now, ...changeOf(now) })))
  }
}

interface ToggledValue {
  field: Field
  value: string
}

function toggled(current: unknown, { field, value }: ToggledValue) {
  const before = [current ?? []].flat()
  if (before.includes(value)) return field === 'kind' ? undefined : before.filter((one) => one !== value)
  // A task has one kind.
  return field === 'kind' ? value : [...before, value]
}
