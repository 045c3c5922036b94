import type { Schema } from '../api/client.ts'
import { reasonOf } from './mending.ts'
import { MendingLink } from './mending-link.tsx'

interface PipeFailureProps {
  pipe: Schema<'Pipe'>
  /** Before the reason, where several may fail. */
  prefix?: string
}

/** In a list, why a pipe fails, and where that can be mended. */
export const PipeFailure = ({ pipe, prefix = '' }: PipeFailureProps) => (
  <div className="small breakable">
    {prefix}
    {reasonOf(pipe)}
    <div style={{ marginTop: 6 }}>
      <MendingLink pipe={pipe} />
    </div>
  </div>
)
