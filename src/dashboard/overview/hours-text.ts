import type { Schema } from '../api/client.ts'
import { plural } from '../lib/plural.ts'
import { sumOf } from '../lib/sum.ts'

type Hours = Schema<'Pipe'>['hours']

/** What the strip of 24 hours shows, with the hours that had failures. */
export function hoursText(hours: Hours): string {
  const succeeded = sumOf(hours.map((hour) => hour.succeeded))
  const failed = sumOf(hours.map((hour) => hour.failed))
  const totals = `In 24 hours: ${succeeded.toLocaleString()} succeeded, ${failed.toLocaleString()} failed`
  if (failed === 0) return totals
  const failures = hours.flatMap((hour, index) =>
    hour.failed === 0 ? [] : `${agoText(hours.length - 1 - index)} ${hour.failed.toLocaleString()}`,
  )
  return `${totals}: ${failures.join(', ')}`
}

const agoText = (ago: number) => (ago === 0 ? 'in this hour' : `${plural(ago, 'hour')} ago`)
