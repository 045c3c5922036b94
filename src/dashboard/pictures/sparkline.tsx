import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import styles from './pictures.module.css'

const WIDTH = 120
const HEIGHT = 28

interface SparklineProps {
  /** In the order of time. */
  values: number[]
  /** What it shows, with its figures. */
  label: string
}

/** The course of one figure, beside its name. */
export function Sparkline({ values, label }: SparklineProps) {
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [2, WIDTH - 2])
  const y = scaleLinear([0, Math.max(1, ...values)], [HEIGHT - 2, 2])
  const at = (_: number, index: number) => x(index)
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label} className={styles.sparkline}>
      <title>{label}</title>
      <path d={area<number>(at, HEIGHT - 2, y)(values) ?? ''} className={styles.under} />
      <path d={line<number>(at, y)(values) ?? ''} className={styles.line} />
    </svg>
  )
}
