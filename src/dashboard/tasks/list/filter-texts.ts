import type { TaskFilters } from '../../api/queries.ts'
import { dayText } from '../../components/day-text.ts'
import { KINDS, PRIORITIES, SOURCES, STATUSES } from '../filters.ts'

/** What the address names while filters are saved. */
export const FILTER = 'filter'

/** Those with a menu of their own in the filter bar. */
export const MAIN_FILTERS = {
  status: 'Status',
  priority: 'Priority',
  source: 'Source',
  label: 'Label',
} satisfies { [name in keyof TaskFilters]?: string }

/** Those that are in the filter bar while they are set. */
export const MORE_FILTERS = {
  assignee: 'Assignee',
  isReady: 'Ready to start',
  claimed: 'Claimed',
  triaged: 'Triaged',
  snoozed: 'Snoozed',
  needsAnswer: 'Needs an answer',
  kind: 'Kind',
  externalId: 'External ID',
  codehostIssueNumber: 'Issue number',
  codehostPrNumber: 'Pull request number',
  openedSince: 'Opened since',
  createdSince: 'Added since',
  updatedSince: 'Updated since',
  includeArchived: 'Archived projects',
} satisfies { [name in keyof TaskFilters]?: string }
export type MoreFilter = keyof typeof MORE_FILTERS

/** Cast: as written above. */
export const FILTER_NAMES = Object.keys(MORE_FILTERS) as MoreFilter[]

export const FILTERS = { ...MAIN_FILTERS, ...MORE_FILTERS }
export type FilterName = keyof typeof FILTERS

/** The values of filters with few. */
export const CHOICES = { status: STATUSES, priority: PRIORITIES, source: SOURCES }

export const hasChoices = (name: FilterName): name is keyof typeof CHOICES => name in CHOICES

const FLAGS = ['isReady', 'claimed', 'triaged', 'snoozed', 'needsAnswer'] as const

export const isFlag = (name: FilterName): name is (typeof FLAGS)[number] =>
  (FLAGS as readonly string[]).includes(name)

/** The value of a filter as its chip shows it. */
export function valueText(name: FilterName, filters: TaskFilters): string {
  const value = filters[name]
  if (hasChoices(name)) {
    const names: Record<string, string> = CHOICES[name]
    return (filters[name] ?? []).map((one) => names[one]).join(', ')
  }
  if (name === 'kind') return filters.kind ? KINDS[filters.kind] : ''
  if (isFlag(name)) return value === undefined ? '' : value ? 'Yes' : 'No'
  if (name === 'includeArchived') return value ? 'Included' : ''
  if (name.endsWith('Since')) return value ? dayText(new Date(String(value)), new Date()) : ''
  if (name === 'codehostIssueNumber' || name === 'codehostPrNumber') return value ? `#${value}` : ''
  return [value ?? []].flat().join(', ')
}

/** All filters but project and list, one text for each value. */
export const filterTexts = (filters: TaskFilters): string[] => [
  ...(filters.q ? [`“${filters.q}”`] : []),
  ...(filters.status ?? []).map((value) => STATUSES[value]),
  ...(filters.priority ?? []).map((value) => PRIORITIES[value]),
  ...(filters.source ?? []).map((value) => SOURCES[value]),
  ...(filters.label ?? []),
  ...FILTER_NAMES.flatMap((name) => {
    const text = valueText(name, filters)
    return text ? [`${MORE_FILTERS[name]}: ${text}`] : []
  }),
]
