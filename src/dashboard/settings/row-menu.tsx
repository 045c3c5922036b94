import { ActionIcon, Menu } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'

interface RowMenuProps {
  /** What the actions are for. */
  of: string
  /** Each a `Menu.Item`. */
  children: ReactNode
}

/** The menu at the end of a row. */
export const RowMenu = ({ of, children }: RowMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon aria-label={`Actions for ${of}`}>
        <KebabHorizontalIcon size={18} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)
