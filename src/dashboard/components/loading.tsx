import { Skeleton } from '@mantine/core'
import { LoadingLine, type LoadingProps } from './loading-line.tsx'

/** A region that loads. */
export function Loading({ height, ...loading }: LoadingProps & { height: number }) {
  return (
    <div>
      <div role="status" aria-label={`Loading ${loading.what}`}>
        <Skeleton height={height} />
      </div>
      <LoadingLine {...loading} />
    </div>
  )
}
