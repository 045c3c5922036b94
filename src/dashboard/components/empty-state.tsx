import type { ReactNode } from 'react'
import styles from './components.module.css'

interface EmptyStateProps {
  title: string
  description?: string
  action?: ReactNode
  /** Within a section, instead of a page. */
  isSmall?: boolean
  children?: ReactNode
}

/** Explains an empty page, or a part of it: description, one action, one command. */
export function EmptyState({ title, description, action, isSmall, children }: EmptyStateProps) {
  return (
    <div className={`${styles.empty} ${isSmall ? styles.small : ''}`}>
      <h2>{title}</h2>
      {description && <p className="quiet">{description}</p>}
      {action && <div>{action}</div>}
      {children}
    </div>
  )
}
