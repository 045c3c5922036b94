import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** One line of the table: what we measured, what it is held against, and their ratio in the same run. */
export interface Figure {
  name: string
  unit: string
  ours: number
  /** Absent where the figure stands for itself. */
  reference?: { name: string; value: number }
  /** Median of the pairs' own ratios: what else the machine does hits both halves of a pair. */
  ratio?: number
  /** What the ratio must not exceed. */
  limit?: number
  /** What our own value must not exceed. */
  mostOfOurs?: number
  runs?: { ours: number; reference: number }[]
}

interface PairsOptions {
  name: string
  unit: string
  ours(): Promise<number>
  reference: { name: string; measure(): Promise<number> }
  pairs?: number
  limit?: number
}

/** Measures both in turn, so that a machine that is slow for a while is slow for both. */
export async function inPairs({
  name,
  unit,
  ours,
  reference,
  pairs = 3,
  limit,
}: PairsOptions): Promise<Figure> {
  const runs: { ours: number; reference: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    // Who comes first changes: the second finds warmer caches.
    if (pair % 2 === 0) {
      const value = await ours()
      runs.push({ ours: value, reference: await reference.measure() })
    } else {
      const value = await reference.measure()
      runs.push({ ours: await ours(), reference: value })
    }
  }
  return {
    name,
    unit,
    ours: median(runs.map(({ ours }) => ours)),
    reference: { name: reference.name, value: median(runs.map(({ reference }) => reference)) },
    ratio: median(runs.map(({ ours, reference }) => ours / reference)),
    ...(limit !== undefined && { limit }),
    runs,
  }
}

function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** The value that this share of the values does not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** The figures that are beyond their limits, each in a sentence. */
export function exceeded(figures: Figure[]): string[] {
  return figures.flatMap(({ name, unit, ours, ratio = 0, limit, mostOfOurs }) => [
    ...(limit !== undefined && ratio > limit ? [`${name}: ${ratio.toFixed(2)}, more than ${limit}`] : []),
    ...(mostOfOurs !== undefined && ours > mostOfOurs
      ? [`${name}: ${rounded(ours)} ${unit}, more than ${mostOfOurs}`]
      : []),
  ])
}

/** As Markdown, for docs/performance.md. */
export function tableOf(figures: Figure[]): string {
  const lines = figures.map(({ name, unit, ours, reference, ratio, mostOfOurs }) => {
    const held = [
      reference && `${rounded(reference.value)} ${unit} (${reference.name})`,
      mostOfOurs && `${rounded(mostOfOurs)} ${unit} (limit)`,
    ]
      .filter(Boolean)
      .join(', ')
    return `| ${name} | ${rounded(ours)} ${unit} | ${held} | ${ratio === undefined ? '' : ratio.toFixed(2)} |`
  })
  return ['| figure | Inlet | against | ratio |', '| --- | --- | --- | --- |', ...lines].join('\n')
}

/** What the figures were taken on, in one sentence. */
export function machine(): string {
  const [cpu] = cpus()
  return `${cpus().length} cores of ${cpu?.model.trim()}, Node ${process.versions.node}, PostgreSQL 18 (embedded)`
}

/**
 * Begins to watch; answers the share of the cores' time that a hypervisor has given to other machines since. Figures
 * taken while it is more than a few per cent say little. 0 where the system does not tell.
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

const rounded = (value: number) =>
  value >= 100 ? Intl.NumberFormat('en').format(Math.round(value)) : String(Math.round(value * 10) / 10)
