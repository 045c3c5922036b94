import { Button } from '@mantine/core'
import { Fragment, type ReactNode, Suspense, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { useSignOut } from '../session/sign-out.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { type SettingsPage, settingsGroups, settingsPage } from './settings-pages.ts'

/** The layout of the settings; pages that the caller may not use are hidden. */
export default function SettingsLayout({ children }: { children: ReactNode }) {
  const { me, can, isServiceWide } = useMe()
  const [pathname] = useLocation()
  const currentPath = pathname.replace(/\/+$/, '')
  const groups = settingsGroups({ isPerson: Boolean(me?.user), isAdmin: can('admin'), isServiceWide })
  const current = settingsPage(currentPath)
  const isAllowed = !current || groups.some(({ pages }) => pages.includes(current))
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
        {groups.map(({ heading, pages }) => (
          <Fragment key={heading ?? ''}>
            {heading && <h2>{heading}</h2>}
            {pages.map(toNavLink)}
          </Fragment>
        ))}
      </nav>
      <div className={styles.page}>
        <div className={styles.content}>
          <Suspense>{isAllowed ? children : <NotAllowed page={current} />}</Suspense>
        </div>
      </div>
    </div>
  )
}

/** Shown when such a page is opened by URL. */
function NotAllowed({ page: { access } }: { page: SettingsPage }) {
  const { me, isServiceWide } = useMe()
  const signOut = useSignOut()
  const { mutate, isBusy } = useMutation()
  const isPerson = Boolean(me?.user)
  return (
    <PageHeader
      title="Access denied"
      action={
        <Button
          variant="default"
          loading={isBusy}
          onClick={() => void mutate("Couldn't sign out", () => signOut('this-session'))}
        >
          {isPerson || access === 'person' ? 'Sign in as somebody else' : 'Sign in with another key'}
        </Button>
      }
    >
      {access === 'person' ? (
        'This page is for people who sign in with a username. You are signed in with an API key.'
      ) : isPerson ? (
        'This page is for owners.'
      ) : (
        <>
          This page requires a key with the scope <code>admin</code>
          {access === 'service' && !isServiceWide && ' that is not limited to one project'}.
        </>
      )}
    </PageHeader>
  )
}

const toNavLink = ({ path, label }: SettingsPage) => (
  <Link key={path} to={path} className={styles.navLink} activeClassName={styles.current}>
    {label}
  </Link>
)
