import { useMantineColorScheme } from '@mantine/core'
import { CommandPaletteIcon, DevicesIcon, PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { MenuButton } from '../components/menu-button.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { openHelp } from '../keyboard/shortcuts.ts'
import { useMe, useSignOut } from '../session/session.ts'
import styles from './sidebar.module.css'

const THEMES = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** The account menu: theme, shortcuts, sign-out. */
export function Account() {
  const { me } = useMe()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { mutate, isBusy } = useMutation()
  const onSignOut = (extent: 'this-session' | 'all-sessions') =>
    void mutate("Couldn't sign out", () => signOut(extent))

  return (
    <MenuButton
      button={
        <button
          type="button"
          className={`plain-button ${styles.link}`}
          style={{ width: '100%' }}
          disabled={isBusy}
        >
          <PersonIcon size={16} aria-hidden />
          <span className={styles.name}>{me?.name ?? 'Unknown'}</span>
          <span className="visually-hidden">: account menu</span>
        </button>
      }
      position="top-start"
      width={224}
      groups={[
        {
          label: 'Theme',
          radioItems: THEMES,
          selected: colorScheme,
          onSelect: (value) => setColorScheme(value as typeof colorScheme),
        },
        {
          actions: [
            { label: 'Keyboard shortcuts', icon: <CommandPaletteIcon size={16} />, onClick: openHelp },
          ],
        },
        {
          actions: [
            { label: 'Sign out', icon: <SignOutIcon size={16} />, onClick: () => onSignOut('this-session') },
            {
              label: 'Sign out everywhere',
              icon: <DevicesIcon size={16} />,
              onClick: () => onSignOut('all-sessions'),
            },
          ],
        },
      ]}
    />
  )
}
