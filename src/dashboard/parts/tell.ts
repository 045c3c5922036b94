import { notifications } from '@mantine/notifications'
import type { Problem } from '../api/problem.ts'
import { undoButton } from './undo-button.tsx'

interface Offer {
  id: string
  takeBack(): void
}

let latest: Offer | undefined

/** Takes back what was done last, while that is offered; answers whether it was. */
export function undoLatest(): boolean {
  const offer = latest
  offer?.takeBack()
  return offer !== undefined
}

/** Short words at the edge of the page, for what happened and what can be taken back. */
export const tell = {
  done(message: string, shownMs = 4_000) {
    notifications.show({ message, autoClose: shownMs, withBorder: true })
  },

  /** Says what was done and offers to take it back; only the latest can be. */
  undoable(message: string, undo: () => Promise<unknown>) {
    if (latest) notifications.hide(latest.id)
    const id = `undo-${Date.now()}-${Math.random()}`
    const offer = {
      id,
      takeBack() {
        notifications.hide(id)
        if (latest === offer) latest = undefined
        void undo()
      },
    }
    latest = offer
    notifications.show({
      id,
      message: undoButton(message, offer.takeBack),
      autoClose: 10_000,
      withBorder: true,
      onClose() {
        if (latest === offer) latest = undefined
      },
    })
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
