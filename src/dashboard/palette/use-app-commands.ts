import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { projectsQuery } from '../api/queries.ts'
import { undoLatest } from '../components/undo.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { openHelp, openNewTask, type PaletteStep } from '../keyboard/shortcuts.ts'
import { useSingleKeys } from '../keyboard/use-single-keys.ts'
import { useStartSync } from '../projects/use-sync.ts'
import { useMe } from '../session/session.ts'
import { useSignOut } from '../session/sign-out.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { command, type Option } from './options.ts'

const THEMES = { light: 'Light', dark: 'Dark', auto: 'System' } as const

/** What can be done on every page. */
export function useAppCommands(onStep: (step: PaletteStep) => void): Option[] {
  const { can, isServiceWide } = useMe()
  const { mutate } = useMutation()
  const signOut = useSignOut()
  const singleKeys = useSingleKeys()
  const themes = useThemes()
  const syncs = useSyncs()
  const step = (label: string, step: PaletteStep) => command({ label, isStep: true, run: () => onStep(step) })
  return [
    ...(can('tasks:write')
      ? [
          command({ label: 'New task', shortcut: 'c', run: openNewTask }),
          command({ label: 'Undo the last action', shortcut: 'z', run: () => void undoLatest() }),
        ]
      : []),
    command({ label: 'Keyboard shortcuts', keywords: 'help', shortcut: '?', run: openHelp }),
    ...(can('admin') && isServiceWide ? [step('New project…', 'newProject')] : []),
    ...(can('tasks:write') ? [step('New list…', 'newList')] : []),
    ...syncs,
    ...themes,
    command({
      label: singleKeys.isOn ? 'Switch single-key shortcuts off' : 'Switch single-key shortcuts on',
      keywords: 'keyboard',
      run: () => singleKeys.set(!singleKeys.isOn),
    }),
    command({
      label: 'Sign out',
      run: () => void mutate("Couldn't sign out", () => signOut('this-session')),
    }),
  ]
}

function useThemes(): Option[] {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (Object.entries(THEMES) as [keyof typeof THEMES, string][]).map(([value, name]) => ({
    ...command({ label: `Theme: ${name}`, isHidden: true, run: () => setColorScheme(value) }),
    isCurrent: value === colorScheme,
  }))
}

/** Syncs of connected projects. That of the project that is shown needs no text. */
function useSyncs(): Option[] {
  const { can } = useMe()
  const { startSync } = useStartSync()
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: can('tasks:read') })
  const { projectId } = useFilters()
  const [pathname] = useLocation()
  if (!can('codehost:sync')) return []
  return projects
    .filter(({ codehost, archivedAt }) => codehost && archivedAt === null)
    .map(({ id, name }) => ({
      ...command({
        label: `Sync ${name} now`,
        isHidden: id !== projectId && pathname !== `/projects/${id}`,
        run: () => void startSync(id),
      }),
      id: `sync-${id}`,
    }))
}
