import type { NotificationData, notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'
import { preloadModule } from './lazy.tsx'

type Notifications = typeof notifications

const load = preloadModule(() => import('@mantine/notifications'))

/** In the order of the calls. Without the code for toasts there is no place for them either. */
const withNotifications = (use: (notifications: Notifications) => void) =>
  void load().then(
    ({ notifications }) => use(notifications),
    () => {},
  )

const show = (content: NotificationData) => withNotifications((notifications) => notifications.show(content))

export const toast = {
  info(message: string, durationMs = 4_000) {
    show({ message, autoClose: durationMs, withBorder: true })
  },

  /** The progress of a long operation; shown until it ends. */
  progress(label: string, total: number) {
    const words = (done: number) => ({
      id: `progress-${label}`,
      message: `${label}: ${done.toLocaleString()} of ${total.toLocaleString()}`,
      loading: true,
      autoClose: false as const,
      withCloseButton: false,
      withBorder: true,
      role: 'status',
    })
    show(words(0))
    return {
      update: (done: number) => withNotifications(({ update }) => update(words(done))),
      end: () => toast.hide(`progress-${label}`),
    }
  },

  hide: (id: string) => withNotifications(({ hide }) => hide(id)),

  problem(title: string, problem: Problem) {
    toast.error(title, problem.message)
  },

  /** The code of an edit could not be loaded. */
  notLoaded() {
    toast.error("Couldn't load part of this page", 'Nothing was changed. Reload the page and try again.')
  },

  error(title: string, message: string) {
    show({ title, message, color: 'red', autoClose: 12_000, withBorder: true, role: 'alert' })
  },
}
