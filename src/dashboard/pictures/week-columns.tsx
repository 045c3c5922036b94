import { useElementSize } from '@mantine/hooks'
import { scaleBand, scaleLinear } from 'd3-scale'
import { sumOf } from '../lib/sum.ts'
import { fillOf } from './fills.tsx'
import styles from './pictures.module.css'

const HEIGHT = 200
/** Room for half a label. */
const TOP = 8
const BELOW = 22
const LEFT = 36
/** A label of a week needs this much. */
const LABEL_WIDTH = 52

interface Column {
  name: string
  /** From the bottom; the index of each is that of its fill. */
  parts: number[]
}

interface WeekColumnsProps {
  /** Each with the same columns beside each other. */
  weeks: { label: string; title: string; columns: Column[] }[]
  /** What it shows, in one sentence: its table has the figures. */
  label: string
}

/** Stacked columns beside each other for each week. */
export function WeekColumns({ weeks, label }: WeekColumnsProps) {
  const { ref, width } = useElementSize()
  const sums = weeks.flatMap(({ columns }) => columns.map(({ parts }) => sumOf(parts)))
  const y = scaleLinear([0, Math.max(1, ...sums)], [HEIGHT, TOP]).nice(4)
  const x = scaleBand(
    weeks.map((_, index) => index),
    [LEFT, Math.max(LEFT, width)],
  ).paddingInner(0.3)
  const columnNames = weeks[0]?.columns.map(({ name }) => name) ?? []
  const within = scaleBand(columnNames, [0, x.bandwidth()]).paddingInner(0.08)
  const labelEvery = Math.max(1, Math.ceil(LABEL_WIDTH / Math.max(1, x.step())))
  /** Beneath the middle of its week; the last one ends with it, where narrow weeks would have it cut. */
  const labelAt = (index: number) =>
    index === weeks.length - 1 && x.bandwidth() < LABEL_WIDTH
      ? { x: x.bandwidth(), textAnchor: 'end' as const }
      : { x: x.bandwidth() / 2, textAnchor: 'middle' as const }
  return (
    <div ref={ref} className={styles.columns} style={{ height: HEIGHT + BELOW }}>
      {width > 0 && (
        <svg
          width="100%"
          height={HEIGHT + BELOW}
          viewBox={`0 0 ${width} ${HEIGHT + BELOW}`}
          role="img"
          aria-label={label}
        >
          {y
            .ticks(4)
            .filter(Number.isInteger)
            .map((value) => (
              <g key={value} transform={`translate(0 ${y(value)})`}>
                <line x1={LEFT} x2={width} className={styles.grid} />
                <text x={LEFT - 8} dy="0.32em" textAnchor="end">
                  {value.toLocaleString()}
                </text>
              </g>
            ))}
          {weeks.map(({ label, title, columns }, index) => (
            <g key={label} transform={`translate(${x(index)} 0)`} className={styles.week}>
              <title>{title}</title>
              <rect y={0} width={x.bandwidth()} height={HEIGHT} className={styles.target} />
              {columns.map(({ name, parts }) => (
                <g key={name} transform={`translate(${within(name)} 0)`}>
                  {stackOf(parts).map(({ from, to, part }) => (
                    <rect
                      key={part}
                      y={y(to)}
                      width={within.bandwidth()}
                      height={y(from) - y(to)}
                      fill={fillOf(part)}
                      className={styles.part}
                    />
                  ))}
                </g>
              ))}
              {(weeks.length - 1 - index) % labelEvery === 0 && (
                <text {...labelAt(index)} y={HEIGHT + 16}>
                  {label}
                </text>
              )}
            </g>
          ))}
        </svg>
      )}
    </div>
  )
}

/** Where each part begins and ends; without empty ones. */
function stackOf(parts: number[]) {
  let from = 0
  return parts.flatMap((value, part) => {
    if (value === 0) return []
    const stacked = { part, from, to: from + value }
    from = stacked.to
    return stacked
  })
}
