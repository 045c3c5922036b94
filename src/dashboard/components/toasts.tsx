import { Notifications } from '@mantine/notifications'
import { Tooltips } from './tooltips.tsx'

/** The toasts and tooltips, which float over any page. */
export default function Toasts() {
  return (
    <>
      <Notifications position="bottom-center" limit={5} transitionDuration={120} />
      <Tooltips />
    </>
  )
}
