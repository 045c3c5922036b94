import { Button } from '@mantine/core'
import styles from './settings.module.css'

interface OffNoticeProps {
  /** Why it is off, and what to do. */
  why: string
  isBusy: boolean
  onTurnOn(): void
}

/** Says that something is off, above what does not work until it is on. */
export const OffNotice = ({ why, isBusy, onTurnOn }: OffNoticeProps) => (
  <div className={styles.off}>
    <p>{why}</p>
    <Button variant="default" loading={isBusy} onClick={onTurnOn}>
      Turn on
    </Button>
  </div>
)
