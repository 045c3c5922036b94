import styles from './components.module.css'

interface ProgressBarProps {
  label: string
  /** From 0 to 1; undefined where nobody knows how much there is. */
  share: number | undefined
  isMoving: boolean
}

/** How far something is. Where that is not known it says so by moving, and claims no number. */
export function ProgressBar({ label, share, isMoving }: ProgressBarProps) {
  const percent = share === undefined ? undefined : Math.round(share * 100)
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
        className={percent === undefined && isMoving ? styles.wandering : styles.filled}
        style={{ width: `${percent ?? (isMoving ? 30 : 100)}%` }}
        data-paused={!isMoving}
      />
    </div>
  )
}
