import type { Schema } from '../api/client.ts'
import { CopyBlock } from '../components/copy-block.tsx'

/** What is invalid in an event. */
export function EventErrors({ errors }: { errors: Schema<'FieldError'>[] | null }) {
  if (!errors || errors.length === 0) return null
  return (
    <ul className="small" style={{ flexBasis: '100%', margin: 0, color: 'var(--red)' }}>
      {errors.map(({ path, message }) => (
        <li key={path + message}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  )
}

/** The payload of an event. */
export const EventPayload = ({ payload, payloadCut }: { payload?: unknown; payloadCut: boolean }) => (
  <CopyBlock
    caption={payloadCut ? 'First 256 KiB of the payload:' : undefined}
    text={typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)}
  />
)
