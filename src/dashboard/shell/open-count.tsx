import styles from './sidebar.module.css'

/** Digits are grouped only from 1,000 on: the first use of Intl takes 25 to 80 ms. */
export function OpenCount({ count }: { count: number }) {
  return (
    <span className={styles.count}>
      {count < 1_000 ? count : count.toLocaleString()}
      <span className="visually-hidden"> open</span>
    </span>
  )
}
