import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { pageTitle } from '../parts/page-title.ts'
import styles from './settings.module.css'

/** A title, a sentence, and the one thing to do. */
export function PageHead({
  title,
  action,
  children,
}: {
  title: string
  action?: ReactNode
  children: ReactNode
}) {
  useDocumentTitle(pageTitle(title))
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
