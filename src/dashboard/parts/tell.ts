import { notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'
import { undoButton } from './undo-button.tsx'

/** Short words at the edge of the page, for what happened and what can be taken back. */
export const tell = {
  done(message: string) {
    notifications.show({ message, autoClose: 4_000, withBorder: true })
  },

  /** Says what was done and offers to take it back. */
  undoable(message: string, undo: () => Promise<unknown>) {
    const id = `undo-${Date.now()}-${Math.random()}`
    const takeBack = () => {
      notifications.hide(id)
      void undo()
    }
    notifications.show({ id, message: undoButton(message, takeBack), autoClose: 10_000, withBorder: true })
  },

  problem(title: string, problem: Problem) {
    notifications.show({
      title,
      message: problem.message,
      color: 'red',
      autoClose: 12_000,
      withBorder: true,
      role: 'alert',
    })
  },
}
