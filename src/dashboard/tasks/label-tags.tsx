import { TagsInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { commonLabels } from './task-cache.ts'

interface LabelTagsProps {
  chosen: string[]
  onChange(labels: string[]): void
}

/** Labels to go by: those of the tasks that are held here are offered, any other can be written. */
export function LabelTags({ chosen, onChange }: LabelTagsProps) {
  const cache = useQueryClient()
  const [offered] = useState(() => commonLabels(cache))
  // The address follows a moment later; whoever picks two in that moment means both.
  const [labels, setLabels] = useState(chosen)
  return (
    <TagsInput
      aria-label="Labels to show"
      placeholder={labels.length === 0 ? 'Pick or write a label' : undefined}
      description="A task with any of them is shown."
      autoFocus
      w={260}
      data={offered}
      value={labels}
      maxTags={20}
      maxLength={100}
      acceptValueOnBlur={false}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => {
        setLabels(next)
        onChange(next)
      }}
    />
  )
}
