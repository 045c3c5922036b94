import styles from './components.module.css'

interface ProgressBarProps {
  label: string
  /** From 0 to 1; undefined when the total is unknown. */
  fraction: number | undefined
  isRunning: boolean
}

/** An indeterminate bar when the total is unknown. */
export function ProgressBar({ label, fraction, isRunning }: ProgressBarProps) {
  const percent = fraction === undefined ? undefined : Math.round(fraction * 100)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className={styles.progress}
    >
      <div
        className={percent === undefined && isRunning ? styles.indeterminate : styles.filled}
        style={{ width: `${percent ?? (isRunning ? 30 : 100)}%` }}
        data-paused={!isRunning}
      />
    </div>
  )
}
