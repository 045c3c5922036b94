import { type ComponentProps, useState } from 'react'
import { NameTags } from '../name-tags.tsx'

/** Filters by any of several names: suggests existing ones and accepts others. */
export function NameFilter({ value, placeholder, onChange, ...rest }: ComponentProps<typeof NameTags>) {
  // Local state, because the address updates later: two quick choices must both count.
  const [names, setNames] = useState(value)
  return (
    <NameTags
      {...rest}
      selectsFirst
      placeholder={names.length === 0 ? placeholder : undefined}
      autoFocus
      value={names}
      acceptValueOnBlur={false}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => {
        setNames(next)
        onChange(next)
      }}
    />
  )
}
