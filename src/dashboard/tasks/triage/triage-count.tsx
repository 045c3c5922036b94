import { TRIAGE } from './triage-filters.ts'
import { useLeft } from './use-left.ts'

/** How many tasks are left to triage in all projects; nothing when none is. */
export default function TriageCount({ className }: { className: string | undefined }) {
  const { count, isExact } = useLeft(TRIAGE)
  if (!count) return null
  return (
    <span className={className}>
      {count.toLocaleString()}
      {!isExact && '+'}
      <span className="visually-hidden"> to triage</span>
    </span>
  )
}
