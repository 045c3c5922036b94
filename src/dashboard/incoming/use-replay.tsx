import { type ReactNode, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { plural } from '../lib/plural.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { type Delivery, OUTCOMES } from './delivery-text.ts'

/** Of the tasks that a replay reopens. */
const MAX_EXPLAINED = 5

/** Processes a delivery again; `question` is a dialog where that has to be confirmed. */
export function useReplay({ id, receiver, sourceId, outcome }: Delivery): {
  isBusy: boolean
  replay(): Promise<void>
  question: ReactNode
} {
  const { mutate, isBusy } = useMutation('deliveries', 'delivery-pages')
  const { open } = useOpened('delivery')
  const [reopening, setReopening] = useState<{ item: number; explanation: string }[]>()
  const params = { path: { id } }

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () =>
      dataOf(api.POST('/api/deliveries/{id}/replay', { params })),
    )
    if (!replayed) return
    // Applied later: an open one shows how it ends.
    if (receiver === 'codehost') {
      open(id)
      return toast.info('Delivery is being applied again')
    }
    const again = outcome === 'rejected' && replayed.outcome === outcome ? ' again' : ''
    toast.info(`Delivery replayed and ${OUTCOMES[replayed.outcome].toLowerCase()}${again}`)
  }

  /** An old delivery may be about something that is done since, so it asks first. */
  async function askOrReplay(sourceId: string) {
    const test = await mutate("Couldn't replay the delivery", () =>
      dataOf(
        api.POST('/api/sources/{id}/test', {
          params: { path: { id: sourceId } },
          body: { deliveryId: id },
        }),
      ),
    )
    if (!test) return
    const reopening = test.tasks.filter(({ reopens }) => reopens)
    if (reopening.length === 0) await replay()
    else setReopening(reopening)
  }

  return {
    isBusy,
    replay: () => (receiver === 'source' && sourceId !== null ? askOrReplay(sourceId) : replay()),
    question: reopening && (
      <ConfirmDialog
        title={`Replay and reopen ${plural(reopening.length, 'task')}?`}
        verb="Replay"
        color="accent"
        onConfirm={replay}
        onClose={() => setReopening(undefined)}
      >
        {reopening.slice(0, MAX_EXPLAINED).map(({ item, explanation }) => (
          <p key={item}>{explanation}</p>
        ))}
      </ConfirmDialog>
    ),
  }
}
