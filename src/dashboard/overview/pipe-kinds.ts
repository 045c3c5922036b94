import type { Schema } from '../api/client.ts'
import type { Path } from '../navigation/link.tsx'

interface Kind {
  name: string
  /** Several of them. */
  plural: string
  /** The page that lists them. */
  page: Path
}

const CODE_HOSTS = '/settings/code-hosts'

export const KINDS: Record<Schema<'Pipe'>['kind'], Kind> = {
  feedback: { name: 'Feedback webhook', plural: 'feedback webhooks', page: '/settings/webhook' },
  source: { name: 'Source', plural: 'sources', page: '/settings/sources' },
  sync: { name: 'Code host, sync', plural: 'syncs', page: CODE_HOSTS },
  push: { name: 'Code host, webhook', plural: 'webhooks of code hosts', page: CODE_HOSTS },
  write_back: { name: 'Code host, write-back', plural: 'write-backs', page: CODE_HOSTS },
  webhook: { name: 'Outgoing webhook', plural: 'outgoing webhooks', page: '/settings/outgoing' },
  identity_provider: { name: 'Sign-in', plural: 'identity providers', page: '/settings/sign-in' },
}
