import type { ReactNode } from 'react'
import { Logo } from '../components/logo.tsx'
import { usePageTitle } from '../components/use-page-title.ts'
import styles from './signed-out.module.css'

/** The layout of the pages that need no session. */
export function SignedOutPage({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <Logo size={36} />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
