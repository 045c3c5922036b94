import { fillOf } from './fills.tsx'
import styles from './pictures.module.css'

interface StackedBarProps {
  /** In the order of the fills. */
  parts: number[]
  /** The sum that takes the whole width. */
  max: number
  /** What it shows, with its figures. */
  label: string
}

/** A bar beside its name, with parts after each other. */
export function StackedBar({ parts, max, label }: StackedBarProps) {
  let sum = 0
  return (
    <svg width="100%" height="16" role="img" aria-label={label} className={styles.bar}>
      <title>{label}</title>
      {parts.map((value, part) => {
        const before = sum
        sum += value
        if (value === 0) return null
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the index of a part is its identity.
            key={part}
            x={`${(before / max) * 100}%`}
            width={`${(value / max) * 100}%`}
            height="16"
            fill={fillOf(part)}
            className={styles.part}
          />
        )
      })}
    </svg>
  )
}
