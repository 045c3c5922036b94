import type { Schema } from '../api/client.ts'
import type { Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'
import { CODEHOST_REASONS, connectionFix } from './codehost-reasons.ts'

type Pipe = Schema<'Pipe'>

export interface Place {
  /** The label of what leads there. */
  label: string
  to: Path
  search?: Search
}

/** Why it fails, in sentences. */
export function reasonOf({ kind, lastError }: Pick<Pipe, 'kind' | 'lastError'>): string {
  const code = lastError?.code ?? ''
  const detail = lastError?.detail
  const received = kind === 'push' && CODEHOST_REASONS[code]
  if (received) return [`${received}.`, detail].filter(Boolean).join(' ')
  return detail ?? REASONS[code] ?? 'The last attempt failed.'
}

/** For those who do not see details. */
const REASONS: Record<string, string> = {
  codehost_token_rejected: 'The code host does not accept the token.',
  source_disabled: 'The source was turned off because its deliveries took too long to render.',
  receiver_failed: 'The receiver does not accept deliveries.',
}

/** Whether one task alone is the reason: its panel says so, and retries. */
export const isAboutTask = ({ kind, lastError }: Pipe): boolean =>
  kind === 'write_back' && ['issue_locked', 'codehost_rejected'].includes(lastError?.code ?? '')

/** Where what fails can be mended. */
export function placeToMend(pipe: Pipe): Place {
  const { kind, id, lastError } = pipe
  const code = lastError?.code ?? ''
  switch (kind) {
    case 'feedback':
      return code === REJECTED
        ? deliveries({ receiver: 'feedback', outcome: 'rejected' })
        : { label: 'Open webhook', to: '/settings/webhook' }
    case 'source':
      return placeOfSource(pipe)
    case 'webhook':
      return { label: 'View deliveries', to: '/settings/outgoing', search: { deliveries: id } }
    case 'identity_provider':
      return { label: 'Test provider', to: '/settings/sign-in', search: { test: id } }
    case 'push':
      return placeOfPush(pipe)
    case 'sync':
    case 'write_back':
      return (
        connectionFix(code, pipe.projectId ?? '') ?? {
          label: 'Open project settings',
          to: `/projects/${pipe.projectId}`,
        }
      )
  }
}

/** It was let in, and is listed with what is invalid. */
const REJECTED = 'validation_failed'

const deliveries = (search: Search): Place => ({ label: 'View deliveries', to: '/incoming', search })

function placeOfSource({ id, lastError }: Pipe): Place {
  const code = lastError?.code ?? ''
  if (code === REJECTED) return deliveries({ sourceId: id, outcome: 'rejected' })
  return WRONG_SECRET.includes(code)
    ? { label: 'Rotate secret', to: '/settings/sources', search: { rotate: id } }
    : { label: 'Open source', to: '/settings/sources', search: { source: id } }
}

/** The sender has another secret, or none. */
const WRONG_SECRET = ['invalid_credentials', 'missing_credentials']

/** What was received is listed with its reason. Other requests were refused: they have another secret, or none. */
function placeOfPush({ projectId, lastError }: Pipe): Place {
  const code = lastError?.code ?? ''
  if (!Object.hasOwn(CODEHOST_REASONS, code)) {
    return { label: 'Open webhook', to: `/projects/${projectId}`, search: { show: 'webhook' } }
  }
  const search: Search = { receiver: 'codehost', ...(projectId && { projectId }) }
  return deliveries(TRIED_AGAIN.includes(code) ? search : { ...search, outcome: 'failed' })
}

/** Errors with which a delivery is pending, until it has failed too often. */
const TRIED_AGAIN = ['codehost_unreachable', 'internal_error']
