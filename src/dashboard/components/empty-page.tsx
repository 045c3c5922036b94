import type { ReactNode } from 'react'
import styles from './components.module.css'

interface EmptyPageProps {
  title: string
  purpose?: string
  action?: ReactNode
  children?: ReactNode
}

/** What a page is for, one thing to do, and a line to paste. */
export function EmptyPage({ title, purpose, action, children }: EmptyPageProps) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {purpose && <p className="quiet">{purpose}</p>}
      {action && <div>{action}</div>}
      {children}
    </div>
  )
}
