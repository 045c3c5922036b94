import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { useMe } from '../session/session.ts'
import styles from './settings.module.css'

/** The settings and the way between them; what a key may not do is not offered. */
export function SettingsFrame() {
  const { can, isServiceWide } = useMe()
  const isAdmin = can('admin')
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
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
          <Outlet />
        </Suspense>
      </div>
    </div>
  )
}

function Entry({ to, children }: { to: string; children: string }) {
  return (
    <Link to={to} className={styles.entry} activeProps={{ className: styles.here }}>
      {children}
    </Link>
  )
}
