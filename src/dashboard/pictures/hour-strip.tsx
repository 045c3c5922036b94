import { scaleLinear } from 'd3-scale'
import styles from './pictures.module.css'

const HEIGHT = 24
const HOUR_WIDTH = 6
const MIDDLE = 16

interface HourStripProps {
  /** The last one is the current hour. */
  hours: { succeeded: number; failed: number }[]
  /** What it shows, with its figures. */
  label: string
}

/** What a pipe did in each hour: successes above the line, failures below it. */
export function HourStrip({ hours, label }: HourStripProps) {
  const most = Math.max(1, ...hours.map(({ succeeded }) => succeeded))
  const up = scaleLinear([0, most], [0, MIDDLE - 2])
  return (
    <svg
      width={hours.length * HOUR_WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
      className={styles.strip}
    >
      <title>{label}</title>
      <line x2={hours.length * HOUR_WIDTH} y1={MIDDLE} y2={MIDDLE} className={styles.grid} />
      {hours.map(({ succeeded, failed }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an hour has its place.
        <g key={index} transform={`translate(${index * HOUR_WIDTH} 0)`}>
          {succeeded > 0 && (
            <rect
              y={MIDDLE - Math.max(2, up(succeeded))}
              width={HOUR_WIDTH - 2}
              height={Math.max(2, up(succeeded))}
              className={styles.succeeded}
            />
          )}
          {failed > 0 && (
            <rect
              y={MIDDLE + 2}
              width={HOUR_WIDTH - 2}
              height={HEIGHT - MIDDLE - 2}
              className={styles.failed}
            />
          )}
        </g>
      ))}
    </svg>
  )
}
