import { notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'

/** Short words at the edge of the page, for what happened. */
export const toast = {
  done(message: string, shownMs = 4_000) {
    notifications.show({ message, autoClose: shownMs, withBorder: true })
  },

  /** How far something is that takes a while; shown until it ends. */
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
    notifications.show(words(0))
    return {
      update: (done: number) => void notifications.update(words(done)),
      end: () => void notifications.hide(`progress-${label}`),
    }
  },

  problem(title: string, problem: Problem) {
    toast.refused(title, problem.message)
  },

  /** What could not be done, and why. */
  refused(title: string, message: string) {
    notifications.show({ title, message, color: 'red', autoClose: 12_000, withBorder: true, role: 'alert' })
  },
}
