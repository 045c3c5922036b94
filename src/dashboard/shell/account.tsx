import { useMantineColorScheme } from '@mantine/core'
import { CommandPaletteIcon, DevicesIcon, PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { MenuButton } from '../components/menu-button.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { openHelp } from '../keyboard/shortcuts.ts'
import { useMe, useSignOut } from '../session/session.ts'
import styles from './sidebar.module.css'

const THEMES = [
  { value: 'auto', words: 'As the system' },
  { value: 'light', words: 'Light' },
  { value: 'dark', words: 'Dark' },
]

/** Who is signed in, and what they may change about that. */
export function Account() {
  const { me } = useMe()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { act, isBusy } = useMutation()
  const leave = (where: 'here' | 'everywhere') => void act('You are still signed in', () => signOut(where))

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
          <span className={styles.name}>{me?.name ?? 'Somebody'}</span>
          <span className="visually-hidden">: theme, keyboard and signing out</span>
        </button>
      }
      position="top-start"
      width={224}
      groups={[
        {
          label: 'Theme',
          pickOne: THEMES,
          chosen: colorScheme,
          onPick: (value) => setColorScheme(value as typeof colorScheme),
        },
        { actions: [{ words: 'Keyboard', icon: <CommandPaletteIcon size={16} />, act: openHelp }] },
        {
          actions: [
            { words: 'Sign out', icon: <SignOutIcon size={16} />, act: () => leave('here') },
            { words: 'Sign out everywhere', icon: <DevicesIcon size={16} />, act: () => leave('everywhere') },
          ],
        },
      ]}
    />
  )
}
