import { ActionIcon } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { ThreeBarsIcon } from '@primer/octicons-react'
import { Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useDeferredValue, useEffect, useTransition } from 'react'
import { DialogLoading, preloadDialog } from '../components/lazy.tsx'
import { Logo } from '../components/logo.tsx'
import { useEver } from '../components/use-open-state.ts'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { LiveChanges, useLive } from '../live-updates/live-updates.tsx'
import { SignedOutDialog } from '../session/session-expired.tsx'
import { NewTaskWait } from '../tasks/new-task-loading.tsx'
import styles from './app-shell.module.css'
import { InsideShell } from './error-page.tsx'
import { Sidebar } from './sidebar.tsx'

const HelpDialog = preloadDialog(() => import('./help-dialog.tsx'))
const MenuDrawer = preloadDialog(() => import('./menu-drawer.tsx'))
const NewTaskDialog = preloadDialog(() => import('../tasks/new-task-dialog.tsx'))

/** What is around every page: the sidebar, the stream of changes, and what the keyboard does everywhere. */
export function AppShell() {
  // The router shows a page in one go; what comes a moment later is drawn in pieces between which clicks are heard.
  const isDrawn = useDeferredValue(true, false)
  return (
    <InsideShell value={true}>
      <LiveChanges>{isDrawn && <FrameWithin />}</LiveChanges>
    </InsideShell>
  )
}

function FrameWithin() {
  const isNarrow = useMediaQuery('(max-width: 800px)', globalThis.innerWidth <= 800, {
    getInitialValueInEffect: false,
  })
  const [isMenuOpen, menu] = useDisclosure(false)
  const hasMenu = useEver(isMenuOpen)
  const [isFetchingMenu, startTransition] = useTransition()
  const { isHelpOpen, isNewTaskOpen, closeHelp, closeNewTask } = useShortcuts()
  const { isLost } = useLive()
  const { pathname, searchStr } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the address changes.
  useEffect(() => menu.close(), [pathname, searchStr])

  return (
    <div className={styles.frame}>
      <a href="#page" className={styles.skip}>
        Skip to the page
      </a>
      {isNarrow ? (
        <header className={styles.top}>
          <ActionIcon
            size={44}
            onClick={() => startTransition(menu.open)}
            aria-busy={isFetchingMenu}
            aria-label="Open the menu"
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
        {isLost && (
          <p className={styles.lost} role="status">
            The connection to Inlet is gone. What you see may be old; it catches up by itself.
          </p>
        )}
        <Outlet />
        <div id="floating" />
      </main>
      <SignedOutDialog />
      <Suspense>{isNarrow && hasMenu && <MenuDrawer isOpen={isMenuOpen} onClose={menu.close} />}</Suspense>
      <Suspense fallback={<DialogLoading />}>{isHelpOpen && <HelpDialog onClose={closeHelp} />}</Suspense>
      <Suspense fallback={<NewTaskWait onClose={closeNewTask} />}>
        {isNewTaskOpen && <NewTaskDialog onClose={closeNewTask} />}
      </Suspense>
    </div>
  )
}
