import type { ReactNode } from 'react'
import { usePageTitle } from '../components/use-page-title.ts'
import styles from './settings.module.css'

interface PageHeaderProps {
  title: string
  /** In the tab of the browser, if it is another one. */
  tabTitle?: string
  action?: ReactNode
  children: ReactNode
}

/** The title, the description and the primary action of a page. */
export function PageHeader({ title, tabTitle = title, action, children }: PageHeaderProps) {
  usePageTitle(tabTitle)
  return (
    <header className={styles.head}>
      <div>
        <h1>{title}</h1>
        <p className="quiet">{children}</p>
      </div>
      {action}
    </header>
  )
}
