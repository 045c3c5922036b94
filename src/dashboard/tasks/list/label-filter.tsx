import { Popover } from '@mantine/core'
import { cloneElement, useState } from 'react'
import { type ButtonElement, useOpening } from '../../components/use-open-state.ts'
import { NameTags } from '../name-tags.tsx'

interface LabelFilterProps {
  button: ButtonElement
  projectId: string | undefined
  chosen: string[]
  onChange(labels: string[]): void
}

/** The labels of the filter whose button was pressed. */
export default function LabelFilter({ button, projectId, chosen, onChange }: LabelFilterProps) {
  const { isOpen, setOpen, target } = useOpening(button)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>{cloneElement(target, { onClick: () => setOpen(!isOpen) })}</Popover.Target>
      <Popover.Dropdown aria-label="Which labels">
        <LabelTags projectId={projectId} chosen={chosen} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  )
}

interface LabelTagsProps {
  projectId: string | undefined
  chosen: string[]
  onChange(labels: string[]): void
}

/** Labels to go by: those that tasks have are offered, any other can be written. */
function LabelTags({ projectId, chosen, onChange }: LabelTagsProps) {
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
