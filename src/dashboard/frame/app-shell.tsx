import { ActionIcon } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { ThreeBarsIcon } from '@primer/octicons-react'
import { Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useDeferredValue, useEffect, useTransition } from 'react'
import { LiveChanges, useLive } from '../live/live.tsx'
import { KeysWait } from '../parts/keys-wait.tsx'
import { Logo } from '../parts/logo.tsx'
import { soonDialog } from '../parts/preload.ts'
import { useEver } from '../parts/use-opening.ts'
import { SignedOutDialog } from '../session/signed-out-dialog.tsx'
import { NewTaskWait } from '../tasks/new-task-wait.tsx'
import styles from './frame.module.css'
import { InFrame } from './in-frame.ts'
import { useShortcuts } from './shortcuts.ts'
import { Sidebar } from './sidebar.tsx'

const HelpDialog = soonDialog(() => import('./help-dialog.tsx'))
const MenuDrawer = soonDialog(() => import('./menu-drawer.tsx'))
const NewTaskDialog = soonDialog(() => import('../tasks/new-task-dialog.tsx'))

/** What is around every page: the sidebar, the stream of changes, and what the keyboard does everywhere. */
export function AppShell() {
  // The router shows a page in one go; what comes a moment later is drawn in pieces between which clicks are heard.
  const isDrawn = useDeferredValue(true, false)
  return (
    <InFrame value={true}>
      <LiveChanges>{isDrawn && <FrameWithin />}</LiveChanges>
    </InFrame>
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
      <Suspense fallback={<KeysWait />}>{isHelpOpen && <HelpDialog onClose={closeHelp} />}</Suspense>
      <Suspense fallback={<NewTaskWait onClose={closeNewTask} />}>
        {isNewTaskOpen && <NewTaskDialog onClose={closeNewTask} />}
      </Suspense>
    </div>
  )
}
