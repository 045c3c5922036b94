import { Popover } from '@mantine/core'
import { cloneElement } from 'react'
import { type ButtonElement, useOpening } from '../parts/use-opening.ts'
import { LabelTags } from './label-tags.tsx'

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
