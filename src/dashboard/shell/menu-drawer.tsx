import { Drawer } from '@mantine/core'
import { useOpenAfterRender } from '../components/use-open-state.ts'
import styles from './app-shell.module.css'
import { Sidebar } from './sidebar.tsx'

interface MenuDrawerProps {
  isOpen: boolean
  onClose(): void
}

/** The sidebar of narrow screens. */
export default function MenuDrawer({ isOpen, onClose }: MenuDrawerProps) {
  return (
    <Drawer
      opened={useOpenAfterRender(isOpen)}
      onClose={onClose}
      closeOnEscape={false}
      // Escape in a dialog or a menu over the drawer also bubbles to here.
      onKeyDown={({ key, currentTarget, target }) => {
        if (key === 'Escape' && currentTarget.contains(target as Node)) onClose()
      }}
      size={280}
      padding={0}
      title={<span className="visually-hidden">Menu</span>}
      transitionProps={{ duration: 120 }}
      classNames={{ header: styles.drawerHeader, body: styles.drawerBody }}
    >
      <Sidebar />
    </Drawer>
  )
}
