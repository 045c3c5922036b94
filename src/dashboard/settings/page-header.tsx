import type { ReactNode } from 'react'
import { usePageTitle } from '../components/use-page-title.ts'
import styles from './settings.module.css'

/** The title, the description and the primary action of a page. */
export function PageHeader({
  title,
  action,
  children,
}: {
  title: string
  action?: ReactNode
  children: ReactNode
}) {
  usePageTitle(title)
  return (
    <header className={styles.head}>
      <div style={{ flex: '1 1 320px' }}>
        <h1>{title}</h1>
        <p className="quiet">{children}</p>
      </div>
      {action}
    </header>
  )
}
