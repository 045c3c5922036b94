import { notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'

export const toast = {
  info(message: string, durationMs = 4_000) {
    notifications.show({ message, autoClose: durationMs, withBorder: true })
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
    notifications.show(words(0))
    return {
      update: (done: number) => void notifications.update(words(done)),
      end: () => void notifications.hide(`progress-${label}`),
    }
  },

  problem(title: string, problem: Problem) {
    toast.error(title, problem.message)
  },

  error(title: string, message: string) {
    notifications.show({ title, message, color: 'red', autoClose: 12_000, withBorder: true, role: 'alert' })
  },
}
