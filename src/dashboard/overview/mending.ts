import type { Schema } from '../api/client.ts'
import type { Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'

interface Mending {
  /** Why it fails, as a sentence. */
  reason: string
  action: string
  to: Path
  search?: Search
}

/** Where what fails can be mended. */
export function mendingOf({ kind, id, projectId, lastError }: Schema<'Pipe'>): Mending {
  const reason = lastError?.detail ?? REASONS[lastError?.code ?? ''] ?? 'The last attempt failed.'
  const isRefused = lastError?.code === 'codehost_token_rejected'
  // It was let in, and is listed with what is invalid.
  const isRejected = lastError?.code === 'validation_failed'
  const deliveries = (search: Search) => ({
    reason,
    action: 'View deliveries',
    to: '/incoming' as const,
    search,
  })
  switch (kind) {
    case 'feedback':
      return isRejected
        ? deliveries({ receiver: 'feedback', outcome: 'rejected' })
        : { reason, action: 'Open webhook', to: '/settings/webhook' }
    case 'source':
      return isRejected
        ? deliveries({ sourceId: id, outcome: 'rejected' })
        : { reason, action: 'Open source', to: '/settings/sources', search: { source: id } }
    case 'webhook':
      return { reason, action: 'View deliveries', to: '/settings/outgoing', search: { deliveries: id } }
    case 'identity_provider':
      return { reason, action: 'Open provider', to: '/settings/sign-in', search: { provider: id } }
    case 'sync':
    case 'push':
    case 'write_back':
      return {
        reason,
        action: isRefused ? 'Renew token' : 'Open project settings',
        to: `/projects/${projectId}`,
        search: isRefused ? { edit: 'connection' } : {},
      }
  }
}

/** For those who do not see details. */
const REASONS: Record<string, string> = {
  codehost_token_rejected: 'The code host does not accept the token.',
  receiver_failed: 'The receiver does not accept deliveries.',
}
