/** A line of the command palette. */
export interface Option {
  id: string
  label: string
  group: string
  /** Found by these words as well. */
  keywords?: string
  /** Shown at the end of the line. */
  aside?: string
  /** The key that does the same without the palette. */
  shortcut?: string
  /** Whether all tasks have this value already. */
  isCurrent?: boolean
  /** Keeps the palette open. */
  isStep?: boolean
  /** Shown only once text is typed, because it is one of many. */
  isHidden?: boolean
  /** Already filtered, by the service. */
  isFound?: boolean
  run(): void
}

/** The options that contain all words; in each group and between groups, the best match is first. */
export function matchingOptions(options: Option[], text: string): Option[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const query = words.join(' ')
  const offered = options.filter(({ isHidden }) => !isHidden || query !== '')
  const matches = offered.flatMap((option) => {
    const label = option.label.toLowerCase()
    const searched = `${label} ${option.keywords?.toLowerCase() ?? ''}`
    const isMatch = option.isFound || words.every((word) => searched.includes(word))
    return isMatch ? [{ option, rank: option.isFound ? 3 : rankOf(label, query) }] : []
  })
  const groups = [...Map.groupBy(matches, ({ option }) => option.group).values()]
  for (const group of groups) group.sort((one, other) => one.rank - other.rank)
  groups.sort(([one], [other]) => (one?.rank ?? 0) - (other?.rank ?? 0))
  return groups.flat().map(({ option }) => option)
}

function rankOf(label: string, query: string): number {
  if (label === query) return 0
  return label.startsWith(query) ? 1 : 2
}

export type Command = Pick<Option, 'label' | 'keywords' | 'shortcut' | 'isStep' | 'isHidden' | 'run'>

export const command = (option: Command): Option => ({
  id: `do-${option.label}`,
  group: 'Commands',
  ...option,
})
