import { Button, type ButtonProps } from '@mantine/core'
import { MenuButton } from '../../components/menu-button.tsx'

/** Shows the name of a filter and its selected values. */
export function FilterButton({ name, labels, ...button }: { name: string; labels: string[] } & ButtonProps) {
  const isSet = labels.length > 0
  return (
    <Button {...button} variant={isSet ? 'light' : 'subtle'} color={isSet ? 'accent' : 'gray'} px={10}>
      {isSet ? `${name}: ${labels.join(', ')}` : name}
    </Button>
  )
}

interface FilterMenuProps<T extends string> {
  name: string
  options: Record<T, string>
  selected: T[]
  onChange(selected: T[] | undefined): void
}

/** The menu of a filter with few values, of which any may be set. */
export function FilterMenu<T extends string>({ name, options, selected, onChange }: FilterMenuProps<T>) {
  const labels = selected.map((value) => options[value])
  const toggled = (value: T) =>
    selected.includes(value) ? selected.filter((other) => other !== value) : [...selected, value]
  return (
    <MenuButton
      button={<FilterButton name={name} labels={labels} />}
      position="bottom-start"
      groups={[
        { checkboxItems: toOptions(options), selected, onSelect: (value) => onChange(toggled(value as T)) },
      ]}
    />
  )
}

export const toOptions = (names: Record<string, string>) =>
  Object.entries(names).map(([value, name]) => ({ value, label: name }))
