import { Select, TextInput } from '@mantine/core'
import type { Problem } from '../api/problem.ts'
import { needsHeader, type SourceDraft } from './source-draft.ts'
import type { SourcePreset } from './source-queries.ts'

interface SourceVerificationProps {
  draft: SourceDraft
  /** The secret of a source is stored for its scheme, so only a new one has a choice. */
  isNew: boolean
  secretFrom: SourcePreset['secretFrom'] | undefined
  problem: Problem | undefined
  onEdit(change: Partial<SourceDraft>): void
}

const SCHEMES: { value: SourceDraft['scheme']; label: string }[] = [
  { value: 'bearer', label: 'Authorization: Bearer <secret>' },
  { value: 'token', label: 'The secret in a header' },
  { value: 'hmac_sha256_hex', label: 'HMAC-SHA256 of the body in a header' },
  { value: 'standard_webhooks', label: 'Standard Webhooks' },
]

const SECRET_HINTS = {
  sender:
    'The sender shows its secret once it has the URL of this source. Leave this empty, and set the secret with “Rotate secret” afterwards.',
  inlet: 'Leave this empty to create a secret, which you enter at the sender.',
  either: 'If the sender shows you a secret, paste it. Otherwise, leave this empty to create one.',
}

/** The fields that decide who may send. */
export function SourceVerification({ draft, isNew, secretFrom, problem, onEdit }: SourceVerificationProps) {
  return (
    <>
      <Select
        label="Verification"
        description={!isNew && 'To use another one, create a new source.'}
        data={SCHEMES}
        value={draft.scheme}
        allowDeselect={false}
        disabled={!isNew}
        onChange={(scheme) => scheme && onEdit({ scheme: scheme as SourceDraft['scheme'] })}
      />
      {needsHeader(draft) && (
        <>
          <TextInput
            label="Header"
            required
            placeholder="X-Signature"
            value={draft.header}
            error={problem?.byField['/verify/header']}
            onChange={(event) => onEdit({ header: event.currentTarget.value })}
          />
          <TextInput
            label="Prefix"
            description="What the header has before the secret or signature, if anything."
            placeholder="sha256="
            maxLength={50}
            value={draft.prefix}
            error={problem?.byField['/verify/prefix']}
            onChange={(event) => onEdit({ prefix: event.currentTarget.value })}
          />
        </>
      )}
      {isNew && (
        <TextInput
          label="Secret of the sender"
          description={SECRET_HINTS[secretFrom ?? 'either']}
          autoComplete="off"
          value={draft.secret}
          error={problem?.byField['/secret']}
          onChange={(event) => onEdit({ secret: event.currentTarget.value })}
        />
      )}
    </>
  )
}
