import type { ReactNode } from 'react'
import styles from './components.module.css'

interface EmptyStateProps {
  title: string
  description?: string
  action?: ReactNode
  children?: ReactNode
}

/** Explains an empty page: description, one action, one command. */
export function EmptyState({ title, description, action, children }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {description && <p className="quiet">{description}</p>}
      {action && <div>{action}</div>}
      {children}
    </div>
  )
}
