import { Notifications } from '@mantine/notifications'

/** Where `tell` is heard. */
export default function Toasts() {
  return <Notifications position="bottom-center" limit={5} transitionDuration={120} />
}
