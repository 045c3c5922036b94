import { RelativeTime } from '../components/relative-time.tsx'

/** For example `last used 3 min ago`, or `never used`. */
export const LastTime = ({ verb, dateTime }: { verb: string; dateTime: string | null | undefined }) =>
  dateTime ? (
    <>
      last {verb} <RelativeTime dateTime={dateTime} />
    </>
  ) : (
    `never ${verb}`
  )
