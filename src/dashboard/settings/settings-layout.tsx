import { Button } from '@mantine/core'
import { type ReactNode, Suspense, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useMutation } from '../components/use-mutation.ts'
import { Link, type Path } from '../navigation/link.tsx'
import { useMe, useSignOut } from '../session/session.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

/** The layout of the settings; pages that the key may not use are hidden. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  const { can, isServiceWide } = useMe()
  const [pathname] = useLocation()
  const isAdmin = can('admin')
  const currentPath = pathname.replace(/\/+$/, '')
  const isForBoundKeys = PAGES_FOR_BOUND_KEYS.includes(currentPath)
  const isAllowed = !ADMIN_PAGES.includes(currentPath) || (isAdmin && (isServiceWide || isForBoundKeys))
  const nav = useRef<HTMLElement>(null)
  // On narrow screens the links scroll horizontally: scroll to the current one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current link changes with the address.
  useEffect(() => {
    nav.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [pathname])
  return (
    <div className={styles.layout}>
      <nav ref={nav} className={styles.nav} aria-label="Settings">
        <NavLink to="/settings/instructions">AI instructions</NavLink>
        <NavLink to="/settings/sessions">Sessions</NavLink>
        {isAdmin && (
          <>
            <h2>Developer</h2>
            <NavLink to="/settings/keys">API keys</NavLink>
            <NavLink to="/settings/sources">Sources</NavLink>
            {isServiceWide && (
              <>
                <NavLink to="/settings/webhook">Feedback webhook</NavLink>
                <NavLink to="/settings/routing">Webhook routing</NavLink>
                <NavLink to="/settings/events">Event inbox</NavLink>
              </>
            )}
            <NavLink to="/settings/deliveries">Code host deliveries</NavLink>
          </>
        )}
      </nav>
      <div className={styles.page}>
        <Suspense>
          {isAllowed ? children : <NotAllowed isBound={!isServiceWide && !isForBoundKeys} />}
        </Suspense>
      </div>
    </div>
  )
}

/** Pages of one project, or of several. */
const PAGES_FOR_BOUND_KEYS = ['/settings/keys', '/settings/sources', '/settings/deliveries']
const ADMIN_PAGES = [...PAGES_FOR_BOUND_KEYS, '/settings/webhook', '/settings/routing', '/settings/events']

/** Shown when such a page is opened by URL. */
function NotAllowed({ isBound }: { isBound: boolean }) {
  const signOut = useSignOut()
  const { mutate, isBusy } = useMutation()
  return (
    <PageHeader
      title="Access denied"
      action={
        <Button
          variant="default"
          loading={isBusy}
          onClick={() => void mutate("Couldn't sign out", () => signOut('this-session'))}
        >
          Sign in with another key
        </Button>
      }
    >
      This page requires a key with the scope <code>admin</code>
      {isBound && ' that is not limited to one project'}.
    </PageHeader>
  )
}

function NavLink({ to, children }: { to: Path; children: string }) {
  return (
    <Link to={to} className={styles.navLink} activeClassName={styles.current}>
      {children}
    </Link>
  )
}
