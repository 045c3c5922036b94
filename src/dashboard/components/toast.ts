import { notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'

/** Short words at the edge of the page, for what happened. */
export const toast = {
  done(message: string, shownMs = 4_000) {
    notifications.show({ message, autoClose: shownMs, withBorder: true })
  },

  problem(title: string, problem: Problem) {
    toast.refused(title, problem.message)
  },

  /** What could not be done, and why. */
  refused(title: string, message: string) {
    notifications.show({ title, message, color: 'red', autoClose: 12_000, withBorder: true, role: 'alert' })
  },
}
