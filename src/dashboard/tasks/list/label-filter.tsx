import { Popover } from '@mantine/core'
import { cloneElement } from 'react'
import { type ButtonElement, useOpenOnMount } from '../../components/use-open-state.ts'
import { NameFilter } from './name-filter.tsx'

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
        <NameFilter
          kind="labels"
          projectId={projectId}
          aria-label="Filter by label"
          placeholder="Select or enter a label"
          description="Shows tasks with any of these labels."
          w={260}
          value={selected}
          onChange={onChange}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
