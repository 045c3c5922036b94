import { Popover } from '@mantine/core'
import { cloneElement, useState } from 'react'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { NameTags } from '../name-tags.tsx'

interface LabelFilterProps {
  button: ButtonElement
  projectId: string | undefined
  selected: string[]
  onChange(labels: string[]): void
}

export default function LabelFilter({ button, projectId, selected, onChange }: LabelFilterProps) {
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(target, { onClick: () => setOpen(!isOpen) })}</Popover.Target>
      <Popover.Dropdown aria-label="Labels">
        <LabelInput projectId={projectId} selected={selected} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  )
}

interface LabelInputProps {
  projectId: string | undefined
  selected: string[]
  onChange(labels: string[]): void
}

/** Suggests existing labels and accepts others. */
function LabelInput({ projectId, selected, onChange }: LabelInputProps) {
  // Local state, because the address updates later: two quick choices must both count.
  const [labels, setLabels] = useState(selected)
  return (
    <NameTags
      kind="labels"
      projectId={projectId}
      selectsFirst
      aria-label="Filter by label"
      placeholder={labels.length === 0 ? 'Select or enter a label' : undefined}
      description="Shows tasks with any of these labels."
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
