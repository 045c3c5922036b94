import type { ReactNode } from 'react'

/** A link to an address that came from elsewhere: only http and https are links. */
export const ExternalLink = ({ url, children }: { url: string | null; children: ReactNode }) =>
  url !== null && isHttpUrl(url) ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    children
  )

export const isHttpUrl = (address: string) => /^https?:\/\//i.test(address)
