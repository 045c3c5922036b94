import { useMantineColorScheme } from '@mantine/core'
import { CommandPaletteIcon, DevicesIcon, PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { cloneElement } from 'react'
import { useLocation } from 'wouter'
import type { MenuGroup } from '../components/menu-button.tsx'
import OpenMenu from '../components/open-menu.tsx'
import { useMutation } from '../components/use-mutation.ts'
import type { ButtonElement } from '../components/use-open-state.ts'
import { openHelp } from '../keyboard/shortcuts.ts'
import { useMe } from '../session/session.ts'
import { useSignOut } from '../session/sign-out.ts'

const THEMES = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** The account menu: the account of a person, theme, shortcuts, sign-out. */
export default function AccountMenu({ button }: { button: ButtonElement }) {
  const { me } = useMe()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { mutate, isBusy } = useMutation()
  const [, navigate] = useLocation()
  const onSignOut = (extent: 'this-session' | 'all-sessions') =>
    void mutate("Couldn't sign out", () => signOut(extent))
  const openAccount = {
    label: 'Account',
    icon: <PersonIcon size={16} />,
    onClick: () => navigate('/settings/account'),
  }
  const ofPerson: MenuGroup[] = me?.user
    ? [{ label: `${me.user.name}, ${me.user.role}`, actions: [openAccount] }]
    : []

  return (
    <OpenMenu
      button={cloneElement(button, { disabled: isBusy })}
      position="top-start"
      width={224}
      groups={[
        ...ofPerson,
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
