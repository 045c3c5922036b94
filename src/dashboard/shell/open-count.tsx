import styles from './sidebar.module.css'

/** How many, grouped where there is something to group: Intl costs the first page 25 to 80 ms. */
export function Count({ of }: { of: number }) {
  return (
    <span className={styles.count}>
      {of < 1_000 ? of : of.toLocaleString()}
      <span className="visually-hidden"> open</span>
    </span>
  )
}
