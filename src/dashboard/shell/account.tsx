import { PersonIcon } from '@primer/octicons-react'
import { preload } from '../components/lazy.tsx'
import { OnDemand } from '../components/menu-button.tsx'
import { useMe } from '../session/session.ts'
import styles from './sidebar.module.css'

const AccountMenu = preload(() => import('./account-menu.tsx'))

/** Who is signed in; a menu button. */
export function Account() {
  const { me } = useMe()
  const button = (
    <button type="button" className={`plain-button ${styles.link}`} style={{ width: '100%' }}>
      <PersonIcon size={16} aria-hidden />
      <span className={styles.name}>{me?.name ?? 'Unknown'}</span>
      {me?.user && <span className={styles.role}>{me.user.role}</span>}
      <span className="visually-hidden">: account menu</span>
    </button>
  )
  return (
    <OnDemand button={button} kind="menu">
      <AccountMenu button={button} />
    </OnDemand>
  )
}
