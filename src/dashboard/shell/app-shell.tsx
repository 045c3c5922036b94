import { ActionIcon } from '@mantine/core'
import { useDisclosure, useMediaQuery, useNetwork } from '@mantine/hooks'
import { ThreeBarsIcon } from '@primer/octicons-react'
import { type ReactNode, Suspense, useDeferredValue, useEffect, useTransition } from 'react'
import { DialogLoading, preloadDialog } from '../components/lazy.tsx'
import { Logo } from '../components/logo.tsx'
import { useHasBeenTrue } from '../components/use-open-state.ts'
import { discardKeys } from '../keyboard/key-queue.ts'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { LiveUpdatesProvider, useLiveUpdates } from '../live-updates/live-updates.tsx'
import { useNavigation } from '../navigation/location-provider.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { pageOf } from '../navigation/use-parameter.ts'
import { useMe } from '../session/session.ts'
import { SessionExpired } from '../session/session-expired.tsx'
import { NewTaskLoading } from '../tasks/new-task-loading.tsx'
import styles from './app-shell.module.css'
import { InsideShell } from './error-page.tsx'
import { Sidebar } from './sidebar.tsx'
import { useGoTo } from './use-go-to.ts'

const FirstOwnerDialog = preloadDialog(() => import('./first-owner-dialog.tsx'))
const HelpDialog = preloadDialog(() => import('./help-dialog.tsx'))
const MenuDrawer = preloadDialog(() => import('./menu-drawer.tsx'))
const NewProjectDialog = preloadDialog(() => import('../projects/new-project-dialog.tsx'))
const Palette = preloadDialog(() => import('../palette/palette.tsx'), discardKeys)
const RenameFilter = preloadDialog(() => import('./rename-filter.tsx'))
const NewTaskDialog = preloadDialog(() => import('../tasks/new-task-dialog.tsx'))

/** The layout of all pages behind sign-in: sidebar, live updates and global shortcuts. */
export function AppShell({ children }: { children: ReactNode }) {
  // The response of /api/me renders the page in one blocking pass; deferred content renders in interruptible steps.
  const isRendered = useDeferredValue(true, false)
  return (
    <InsideShell value={true}>
      <LiveUpdatesProvider>{isRendered && <ShellContent>{children}</ShellContent>}</LiveUpdatesProvider>
    </InsideShell>
  )
}

function ShellContent({ children }: { children: ReactNode }) {
  const isNarrow = useMediaQuery('(max-width: 960px)', globalThis.innerWidth <= 960, {
    getInitialValueInEffect: false,
  })
  const [isMenuOpen, menu] = useDisclosure(false)
  const hasMenuBeenOpen = useHasBeenTrue(isMenuOpen)
  const [isLoadingMenu, startTransition] = useTransition()
  const shortcuts = useShortcuts(useGoTo())
  const { palette, closeHelp, closeNew } = shortcuts
  const renaming = useOpened('rename-filter')
  const { can, isServiceWide, canCreateOwner } = useMe()
  const { isDisconnected } = useLiveUpdates()
  const isOffline = !useNetwork().online
  const page = pageOf(useNavigation().url)
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes when another page is shown.
  useEffect(() => menu.close(), [page])

  return (
    <div className={styles.shell}>
      <a href="#page" className={styles.skip}>
        Skip to content
      </a>
      {isNarrow ? (
        <header className={styles.top}>
          <ActionIcon
            size={44}
            onClick={() => startTransition(menu.open)}
            aria-busy={isLoadingMenu}
            aria-label="Open menu"
          >
            <ThreeBarsIcon size={20} />
          </ActionIcon>
          <Logo />
          <strong>Inlet</strong>
        </header>
      ) : (
        <aside className={styles.side} aria-label="Sidebar">
          <Sidebar />
        </aside>
      )}
      <main id="page" className={styles.page} tabIndex={-1}>
        {(isOffline || isDisconnected) && (
          <p className={styles.disconnected} role="status">
            {isOffline ? 'You are offline.' : 'Connection lost.'} This page may be out of date and updates
            when the connection is back.
          </p>
        )}
        {children}
        <div id="floating" />
      </main>
      <SessionExpired />
      <Suspense>
        {isNarrow && hasMenuBeenOpen && <MenuDrawer isOpen={isMenuOpen} onClose={menu.close} />}
      </Suspense>
      <Suspense fallback={<DialogLoading />}>
        {shortcuts.isHelpOpen && <HelpDialog onClose={closeHelp} />}
        {shortcuts.isNewProjectOpen && can('admin') && isServiceWide && (
          <NewProjectDialog onClose={closeNew} />
        )}
        {shortcuts.isNewAccountOpen && canCreateOwner && <FirstOwnerDialog onClose={closeNew} />}
        {renaming.opened && <RenameFilter id={renaming.opened} onClose={renaming.close} />}
        {palette && <Palette {...palette} onClose={shortcuts.closePalette} />}
      </Suspense>
      <Suspense fallback={<NewTaskLoading onClose={closeNew} />}>
        {shortcuts.isNewTaskOpen && <NewTaskDialog onClose={closeNew} />}
      </Suspense>
    </div>
  )
}
