import { scaleLinear } from 'd3-scale'
import styles from './pictures.module.css'

const HEIGHT = 24
const BAR_WIDTH = 6
const MIDDLE = 16

interface BarStripProps {
  /** In the order of time. */
  bars: { succeeded: number; failed: number; title?: string }[]
  /** What it shows, with its figures. */
  label: string
}

/** What was done in each step: successes above the line, failures below it. */
export function BarStrip({ bars, label }: BarStripProps) {
  const most = Math.max(1, ...bars.map(({ succeeded }) => succeeded))
  const up = scaleLinear([0, most], [0, MIDDLE - 2])
  return (
    <svg
      width={bars.length * BAR_WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
      className={styles.strip}
    >
      {bars.every(({ title }) => title === undefined) && <title>{label}</title>}
      <line x2={bars.length * BAR_WIDTH} y1={MIDDLE} y2={MIDDLE} className={styles.grid} />
      {bars.map(({ succeeded, failed, title }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step has its place.
        <g key={index} transform={`translate(${index * BAR_WIDTH} 0)`}>
          {title && (
            <>
              <title>{title}</title>
              {/* It is shown over the whole height. */}
              <rect width={BAR_WIDTH} height={HEIGHT} fill="transparent" />
            </>
          )}
          {succeeded > 0 && (
            <rect
              y={MIDDLE - Math.max(2, up(succeeded))}
              width={BAR_WIDTH - 2}
              height={Math.max(2, up(succeeded))}
              className={styles.succeeded}
            />
          )}
          {failed > 0 && (
            <rect
              y={MIDDLE + 2}
              width={BAR_WIDTH - 2}
              height={HEIGHT - MIDDLE - 2}
              className={styles.failed}
            />
          )}
        </g>
      ))}
    </svg>
  )
}
