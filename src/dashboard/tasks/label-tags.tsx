import { TagsInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { commonLabels } from './task-cache.ts'

/** Labels to go by: those of the tasks that are held here are offered, any other can be written. */
export default function LabelTags({
  chosen,
  onChange,
}: {
  chosen: string[]
  onChange(labels: string[]): void
}) {
  const cache = useQueryClient()
  const [offered] = useState(() => commonLabels(cache))
  return (
    <TagsInput
      aria-label="Labels to show"
      placeholder={chosen.length === 0 ? 'Pick or write a label' : undefined}
      description="A task with any of them is shown."
      data-autofocus
      w={260}
      data={offered}
      value={chosen}
      maxTags={20}
      comboboxProps={{ withinPortal: false }}
      onChange={onChange}
    />
  )
}
