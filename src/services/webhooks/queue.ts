import { webhookFanOut } from './fan-out.ts'
import { webhookSender } from './sending.ts'

export type WebhookQueueService = ReturnType<typeof webhookQueueService>

type Deps = Parameters<typeof webhookFanOut>[0] & Parameters<typeof webhookSender>[0]

/** How long nothing is tried while the database does not respond. */
const PAUSE_MS = 5_000

/** What the background worker does for outgoing webhooks. */
export function webhookQueueService(deps: Deps) {
  const fanOut = webhookFanOut(deps)
  const sender = webhookSender(deps)
  let pausedUntil = 0
  let onWritten = () => {}
  let onSendable = () => {}

  return {
    /** Sets the listener for when deliveries may have to be written. */
    onWrittenChange(listener: () => void): void {
      onWritten = listener
    },

    /** Sets the listener for when deliveries may have to be sent. */
    onSendable(listener: () => void): void {
      onSendable = listener
    },

    /** A webhook was changed, on any instance. */
    wake(): void {
      fanOut.wake()
      sender.wake()
      onWritten()
      onSendable()
    },

    /** Writes deliveries of what has changed. Returns whether there may be more to write. */
    writeDeliveries: () =>
      unlessPaused(async () => {
        const { isMore, written } = await fanOut.run()
        if (written > 0) onSendable()
        return isMore
      }),

    /** Starts to send what is due. */
    startSending: (signal: AbortSignal) =>
      unlessPaused(async () => {
        if (!fanOut.isIdle()) await sender.startDue(signal, onSendable)
        return false
      }),

    listen: sender.listen,
    whenSent: sender.whenSent,
    endSending: sender.end,
  }

  async function unlessPaused(work: () => Promise<boolean>): Promise<boolean> {
    if (performance.now() < pausedUntil) return false
    return work().catch((error) => {
      pausedUntil = performance.now() + PAUSE_MS
      throw error
    })
  }
}
