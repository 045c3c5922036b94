import { notifications } from '@mantine/notifications'
import { messageWithButton } from './undo.tsx'

interface Unsent {
  /** A toast with the same id gives way: its change is replaced. */
  id?: string
  title: string
  /** Sentences that say what is kept. */
  text: string
}

/**
 * Says what did not reach the service, for as long as nobody decides. Resolves to whether to send it again; otherwise it
 * is given up.
 */
export function offerRetry({ id: givenId, title, text }: Unsent): Promise<boolean> {
  if (givenId) notifications.hide(givenId)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const id = notifications.show({
    id: givenId,
    title: `${title}: ${navigator.onLine ? "Inlet can't be reached" : 'you are offline'}`,
    message: messageWithButton(`${text} Kept until you retry or dismiss this.`, {
      label: 'Retry',
      onClick() {
        resolve(true)
        notifications.hide(id)
      },
    }),
    color: 'red',
    autoClose: false,
    withBorder: true,
    role: 'alert',
    onClose: () => resolve(false),
  })
  return promise
}
