import { Button } from '@mantine/core'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { useMutation } from '../components/use-mutation.ts'
import { useMe, useSignOut } from '../session/session.ts'
import { PageHead } from './page-header.tsx'
import styles from './settings.module.css'

/** The settings and the way between them; what a key may not do is not offered. */
export function SettingsFrame() {
  const { can, isServiceWide } = useMe()
  const { pathname } = useLocation()
  const isAdmin = can('admin')
  const here = pathname.replace(/\/+$/, '')
  const isOpen = !ADMIN_PAGES.includes(here) || (isAdmin && (isServiceWide || here === '/settings/keys'))
  const nav = useRef<HTMLElement>(null)
  // On a phone the entries are one line that scrolls: where somebody is has to be in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry changes with the address.
  useEffect(() => {
    nav.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [pathname])
  return (
    <div className={styles.frame}>
      <nav ref={nav} className={styles.nav} aria-label="Settings">
        <Entry to="/settings/instructions">AI Instructions</Entry>
        <Entry to="/settings/sessions">Sessions</Entry>
        {isAdmin && (
          <>
            <h2>Developer</h2>
            <Entry to="/settings/keys">API keys</Entry>
            {isServiceWide && (
              <>
                <Entry to="/settings/webhook">Feedback webhook</Entry>
                <Entry to="/settings/routing">Webhook Routing</Entry>
                <Entry to="/settings/events">Event inbox</Entry>
              </>
            )}
          </>
        )}
      </nav>
      <div className={styles.page}>
        <Suspense>
          {isOpen ? <Outlet /> : <NotAllowed isBound={!isServiceWide && here !== '/settings/keys'} />}
        </Suspense>
      </div>
    </div>
  )
}

const ADMIN_PAGES = ['/settings/keys', '/settings/webhook', '/settings/routing', '/settings/events']

/** For whoever comes by address. */
function NotAllowed({ isBound }: { isBound: boolean }) {
  const signOut = useSignOut()
  const { act, isBusy } = useMutation()
  return (
    <PageHead
      title="Not for this key"
      action={
        <Button
          variant="default"
          loading={isBusy}
          onClick={() => void act('You are still signed in', () => signOut('here'))}
        >
          Sign in with another key
        </Button>
      }
    >
      Your key may not see or change this: it needs the scope <code>admin</code>
      {isBound && ', and must not be bound to one project'}.
    </PageHead>
  )
}

function Entry({ to, children }: { to: string; children: string }) {
  return (
    <Link to={to} className={styles.entry} activeProps={{ className: styles.here }}>
      {children}
    </Link>
  )
}
