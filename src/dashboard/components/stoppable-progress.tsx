import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** The progress of a long operation with a button that stops it; shown until it ends. */
export function stoppableProgress(label: string, total: number) {
  const id = `progress-${label}`
  let isStopped = false
  const shown = (done: number) => ({
    id,
    message: (
      <span className="row">
        {label}: {done.toLocaleString()} of {total.toLocaleString()}
        <Button variant="subtle" onClick={stop}>
          Stop
        </Button>
      </span>
    ),
    loading: true,
    autoClose: false as const,
    withCloseButton: false,
    withBorder: true,
    role: 'status',
  })
  function stop() {
    isStopped = true
    notifications.hide(id)
  }
  notifications.show(shown(0))
  return {
    update: (done: number) => {
      if (!isStopped) notifications.update(shown(done))
    },
    isStopped: () => isStopped,
    end: () => void notifications.hide(id),
  }
}
