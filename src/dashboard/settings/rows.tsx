import { Button, Skeleton } from '@mantine/core'
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { Children, type ComponentProps, type ReactNode } from 'react'
import { loadMore } from '../api/invalidate.ts'
import { LoadError } from '../components/load-error.tsx'
import { LoadingLine } from '../components/loading-line.tsx'
import styles from './rows.module.css'

interface RowsProps {
  /** What they are, in the plural. */
  label: string
  query: UseQueryResult | UseInfiniteQueryResult
  queryKey: readonly unknown[]
  isOrdered?: boolean
  /** Shown if there are none. */
  empty?: ReactNode
  /** The text of the button for further ones. */
  more?: string
  /** A `Row` for each. */
  children: ReactNode[]
}

/** A list of settings, while it loads, if it fails, and if it is empty. */
export function Rows({ label, query, queryKey, isOrdered = false, empty, more, children }: RowsProps) {
  const List = isOrdered ? 'ol' : 'ul'
  const hasMore = 'hasNextPage' in query && query.hasNextPage
  return (
    <>
      {query.isPending && (
        <div>
          <div role="status" aria-label={`Loading ${label}`} className={styles.rows}>
            {['40%', '55%', '35%'].map((width) => (
              <div key={width} className={styles.row}>
                <Skeleton height={16} width={width} />
              </div>
            ))}
          </div>
          <LoadingLine what={label} query={query} queryKey={queryKey} />
        </div>
      )}
      {query.isSuccess && children.length === 0 && empty}
      {children.length > 0 && (
        <List className={styles.rows} aria-label={label}>
          {children}
        </List>
      )}
      {query.isError && <LoadError what={label} query={query} />}
      {hasMore && (
        <div>
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void loadMore(query)}>
            {more ?? `Show more ${label}`}
          </Button>
        </div>
      )}
    </>
  )
}

interface RowProps extends ComponentProps<'li'> {
  /** Before the name, such as a handle. */
  start?: ReactNode
  name?: ReactNode
  /** Behind the name, such as badges. */
  beside?: ReactNode
  /** The second line. */
  details?: ReactNode
  /** At the right; on a phone beneath, where they do not fit. */
  actions?: ReactNode
  isOff?: boolean
}

/** One of the settings that are listed. `children` are its further lines. */
export function Row({
  start,
  name,
  beside,
  details,
  actions,
  isOff,
  className,
  children,
  ...item
}: RowProps) {
  const hasMoreLines = Children.toArray(children).length > 0
  const classes = [styles.row, hasMoreLines && styles.tall, isOff && styles.off, className]
  return (
    <li {...item} className={classes.filter(Boolean).join(' ')}>
      {start && <div className={styles.start}>{start}</div>}
      <div className={styles.main}>
        <div className={styles.first}>
          {name && <strong>{name}</strong>}
          {beside}
        </div>
        {details && <div className="quiet small">{details}</div>}
        {children}
      </div>
      {actions && <div className="row row-wrap">{actions}</div>}
    </li>
  )
}
