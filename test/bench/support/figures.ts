import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

export interface Limit {
  atLeast?: number
  atMost?: number
}

/** One line of the table: a measured value, what it is compared with, and their ratio in the same run. */
export interface Figure {
  name: string
  unit: string
  value: number
  /** Absent where the value has no counterpart. */
  reference?: { name: string; value: number }
  /** Median of the pairs' own ratios: a disturbance of the machine affects both halves of a pair. */
  ratio?: number
  ratioLimit?: Limit
  valueLimit?: Limit
  runs?: { value: number; reference: number }[]
  /** What the value is the median of, where it has no counterpart. */
  values?: number[]
}

interface PairsOptions {
  name: string
  unit: string
  measure(): Promise<number>
  reference: { name: string; measure(): Promise<number> }
  pairs?: number
  ratioLimit?: Limit
}

/** Measures both in turn, so that a slow period of the machine slows both down. */
export async function inPairs({
  name,
  unit,
  measure,
  reference,
  pairs = 5,
  ratioLimit,
}: PairsOptions): Promise<Figure> {
  const runs: { value: number; reference: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    // The order alternates: the second one finds warmer caches.
    if (pair % 2 === 0) {
      const value = await measure()
      runs.push({ value, reference: await reference.measure() })
    } else {
      const other = await reference.measure()
      runs.push({ value: await measure(), reference: other })
    }
  }
  return {
    name,
    unit,
    value: median(runs.map(({ value }) => value)),
    reference: { name: reference.name, value: median(runs.map(({ reference }) => reference)) },
    ratio: median(runs.map(({ value, reference }) => value / reference)),
    ...(ratioLimit && { ratioLimit }),
    runs,
  }
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** The value that this share of the values does not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** One sentence for each figure that misses a limit. */
export function missedLimits(figures: Figure[]): string[] {
  return figures.flatMap(({ name, unit, value, ratio, ratioLimit, valueLimit }) => [
    ...missed(ratio, ratioLimit, (number) => number.toFixed(2)).map((words) => `${name}: ratio ${words}`),
    ...missed(value, valueLimit, (number) => `${rounded(number)} ${unit}`).map(
      (words) => `${name}: ${words}`,
    ),
  ])
}

function missed(value = Number.NaN, { atLeast, atMost }: Limit = {}, shown: (number: number) => string) {
  return [
    ...(atLeast !== undefined && !(value >= atLeast) ? [`${shown(value)}, less than ${shown(atLeast)}`] : []),
    ...(atMost !== undefined && !(value <= atMost) ? [`${shown(value)}, more than ${shown(atMost)}`] : []),
  ]
}

/** A Markdown table, for docs/performance.md. */
export function tableOf(figures: Figure[]): string {
  const lines = figures.map((figure) => {
    const { name, unit, value, reference, ratio, ratioLimit, valueLimit } = figure
    const limit = ratioLimit ? limitText(ratioLimit) : valueLimit ? `${limitText(valueLimit)} ${unit}` : ''
    const cells = [
      name,
      `${rounded(value)} ${unit}`,
      reference ? `${rounded(reference.value)} ${unit} (${reference.name})` : '',
      ratio?.toFixed(2) ?? '',
      missedLimits([figure]).length > 0 ? `${limit}, **missed**` : limit,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| figure | Inlet | compared with | ratio | limit |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

const limitText = ({ atLeast, atMost }: Limit) =>
  [
    ...(atLeast === undefined ? [] : [`at least ${rounded(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${rounded(atMost)}`]),
  ].join(', ')

/** The machine of the measurement, in one sentence. */
export function machine(): string {
  const [cpu] = cpus()
  return `${cpus().length} cores of ${cpu?.model.trim()}, Node ${process.versions.node}, PostgreSQL 18 (embedded)`
}

/**
 * Starts to watch; returns the share of the cores' time that the hypervisor has given to other machines since. Figures
 * with more than a few per cent say little. 0 where the system does not tell.
 */
export function stolenSince(): () => number {
  const before = coreTimes()
  return () => {
    const after = coreTimes()
    const passed = after.all - before.all
    return passed > 0 ? (after.stolen - before.stolen) / passed : 0
  }
}

function coreTimes() {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 }
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  // user, nice, system, idle, iowait, irq, softirq, steal
  const times = first.trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 }
}

function rounded(value: number): string {
  if (value >= 100) return Intl.NumberFormat('en').format(Math.round(value))
  return String(Math.round(value * 100) / 100)
}
