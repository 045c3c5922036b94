import { OffNotice } from './off-notice.tsx'
import type { Source } from './source-queries.ts'
import { useSourceSwitch } from './use-source-switch.ts'

/** Why Inlet switched a source off, and what to do. Undefined if it did not. */
export const disabledText = ({ disabledReason }: Pick<Source, 'disabledReason'>): string | undefined =>
  disabledReason === 'slow'
    ? 'Turned off because ten deliveries in a row took too long to render. Simplify its templates, then turn it on.'
    : undefined

/** Says in the editor that the source is off, and turns it on. */
export function SourceOff({ source }: { source: Source }) {
  const { toggle, isBusy } = useSourceSwitch(source)
  const why = disabledText(source) ?? 'This source is off. Its deliveries are rejected until you turn it on.'
  return <OffNotice why={why} isBusy={isBusy} onTurnOn={() => void toggle()} />
}
