import { Notifications } from '@mantine/notifications'

/** Where `tell` is heard. */
export default function Notices() {
  return <Notifications position="bottom-center" limit={5} transitionDuration={120} />
}
