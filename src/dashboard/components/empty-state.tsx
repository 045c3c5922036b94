import type { ReactNode } from 'react'
import styles from './components.module.css'

interface EmptyStateProps {
  title: string
  description?: string
  action?: ReactNode
  /** In the middle of a page, instead of where its rows would be. */
  isCentered?: boolean
  /** Of a section, which has a title of its own. */
  isInSection?: boolean
  children?: ReactNode
}

/** Explains an empty page, or a part of it: description, one action, one command. */
export function EmptyState({
  title,
  description,
  action,
  isCentered,
  isInSection,
  children,
}: EmptyStateProps) {
  const Heading = isInSection ? 'h3' : 'h2'
  return (
    <div className={`${styles.empty} ${isCentered ? styles.centered : ''}`}>
      <Heading>{title}</Heading>
      {description && <p className="quiet">{description}</p>}
      {action && <div>{action}</div>}
      {children}
    </div>
  )
}
