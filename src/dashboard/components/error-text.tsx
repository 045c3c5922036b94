import type { ReactNode } from 'react'

/** What went wrong with what is written above it, said at once to whoever listens. */
export function ErrorText({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="breakable" style={{ color: 'var(--red)', margin: 0 }}>
      {children}
    </p>
  )
}
