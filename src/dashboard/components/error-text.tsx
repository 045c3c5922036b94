import type { ReactNode } from 'react'

export function ErrorText({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="breakable" style={{ color: 'var(--red)', margin: 0 }}>
      {children}
    </p>
  )
}
