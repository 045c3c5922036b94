import { useState } from 'react'
import { NameTags } from './name-tags.tsx'

interface LabelTagsProps {
  projectId: string | undefined
  chosen: string[]
  onChange(labels: string[]): void
}

/** Labels to go by: those that tasks have are offered, any other can be written. */
export function LabelTags({ projectId, chosen, onChange }: LabelTagsProps) {
  // The address follows a moment later; whoever picks two in that moment means both.
  const [labels, setLabels] = useState(chosen)
  return (
    <NameTags
      kind="labels"
      projectId={projectId}
      takesFirst
      aria-label="Labels to show"
      placeholder={labels.length === 0 ? 'Pick or write a label' : undefined}
      description="A task with any of them is shown."
      autoFocus
      w={260}
      value={labels}
      acceptValueOnBlur={false}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => {
        setLabels(next)
        onChange(next)
      }}
    />
  )
}
