import type { ReactNode } from 'react'
import styles from './settings.module.css'

interface SectionProps {
  title: ReactNode
  /** The name of its region; without one it is none. */
  label?: string
  /** Beside the title. */
  action?: ReactNode
  /** Beneath the title. */
  description?: ReactNode
  children?: ReactNode
}

/** A part of a page of the settings. */
export const Section = ({ title, label, action, description, children }: SectionProps) => (
  <section className={styles.section} aria-label={label}>
    <div className={styles.head}>
      <div>
        <h2>{title}</h2>
        {description && <p className="quiet small">{description}</p>}
      </div>
      {action}
    </div>
    {children}
  </section>
)
