import { Menu, useMantineColorScheme } from '@mantine/core'
import { IconDevices, IconKeyboard, IconLogout, IconUser } from '@tabler/icons-react'
import { useAct } from '../parts/act.ts'
import { useMe, useSignOut } from '../session/session.ts'
import { openHelp } from './shortcuts.ts'
import styles from './sidebar.module.css'

const THEMES = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

/** Who is signed in, and what they may change about that. */
export function Account() {
  const { me } = useMe()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { act, isBusy } = useAct()
  const leave = (where: 'here' | 'everywhere') => void act('You are still signed in', () => signOut(where))

  return (
    <Menu position="top-start" width={224}>
      <Menu.Target>
        <button
          type="button"
          className={`plain-button ${styles.link}`}
          style={{ width: '100%' }}
          disabled={isBusy}
        >
          <IconUser size={17} stroke={1.7} aria-hidden />
          <span className={styles.name}>{me?.name ?? 'Somebody'}</span>
          <span className="visually-hidden">: theme, keyboard and signing out</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(value) => setColorScheme(value as typeof colorScheme)}
        >
          {THEMES.map(({ value, label }) => (
            <Menu.RadioItem key={value} value={value}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={openHelp}>
          Keyboard
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leave('here')}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<IconDevices size={16} />} onClick={() => leave('everywhere')}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
