import { RelativeTime } from '../components/relative-time.tsx'

/** When something was used: `last used 3 min ago`, or `never used`. */
export const LastUse = ({ dateTime }: { dateTime: string | null }) =>
  dateTime === null ? (
    'never used'
  ) : (
    <>
      last used <RelativeTime dateTime={dateTime} />
    </>
  )
