import { Button, Menu, Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, type Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'
import { RowMenu } from './row-menu.tsx'

interface ItemControlsProps {
  name: string
  isActive: boolean
  isBusy: boolean
  onToggle(): void
  /** The list of what arrived from, or was sent to, the other system. */
  deliveries: { to: Path; search: Search }
  onEdit(): void
  /** `Menu.Item`s before those that rotate and delete. */
  actions?: ReactNode
  onRotate(): void
  onDelete(): void
}

/** The controls of a source or an outgoing webhook in its list. */
export function ItemControls({
  name,
  isActive,
  isBusy,
  onToggle,
  deliveries,
  onEdit,
  actions,
  onRotate,
  onDelete,
}: ItemControlsProps) {
  return (
    <>
      <Switch checked={isActive} disabled={isBusy} aria-label={`“${name}” is active`} onChange={onToggle} />
      <Button variant="default" renderRoot={(props) => <Link {...deliveries} {...props} />}>
        Deliveries
      </Button>
      <Button variant="default" onClick={onEdit}>
        Edit
      </Button>
      <RowMenu of={`“${name}”`}>
        {actions}
        <Menu.Item onClick={onRotate}>Rotate secret</Menu.Item>
        <Menu.Item c="var(--red)" onClick={onDelete}>
          Delete
        </Menu.Item>
      </RowMenu>
    </>
  )
}
