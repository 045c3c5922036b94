import { Notifications } from '@mantine/notifications'
import { Tooltips } from './tooltips.tsx'

/** Toasts, and the tooltips of icon buttons: what floats over any page. */
export default function Toasts() {
  return (
    <>
      <Notifications position="bottom-center" limit={5} transitionDuration={120} />
      <Tooltips />
    </>
  )
}
