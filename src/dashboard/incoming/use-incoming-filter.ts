import type { DeliveryFilter } from '../api/queries.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import { OUTCOMES } from './delivery-text.ts'

export const RECEIVERS = { feedback: 'Feedback', codehost: 'Code hosts', source: 'All sources' }

/** Which deliveries are shown, as the address says. A change closes the one that is open. */
export function useIncomingFilter() {
  const { close } = useOpened('delivery')
  const [receiver, setReceiver] = useParameter('receiver')
  const [sourceId, setSourceId] = useParameter('sourceId')
  const [projectId, setProjectId] = useParameter('projectId')
  const [outcome, setOutcome] = useParameter('outcome')
  const [senderId, setSenderId] = useParameter('senderId')
  const setters = {
    receiver: setReceiver,
    sourceId: setSourceId,
    projectId: setProjectId,
    outcome: setOutcome,
    senderId: setSenderId,
  }

  function change(changed: Partial<Record<keyof typeof setters, string | undefined>>) {
    void close()
    for (const [name, value] of Object.entries(changed)) setters[name as keyof typeof setters](value)
  }

  const filter: DeliveryFilter = {
    ...(isKey(RECEIVERS, receiver) && { receiver }),
    ...(sourceId && { sourceId }),
    ...(projectId && { projectId }),
    ...(isKey(OUTCOMES, outcome) && { outcome }),
    ...(senderId && { senderId }),
  }
  return { filter, change }
}

const isKey = <Key extends string>(names: Record<Key, string>, value: string | undefined): value is Key =>
  value !== undefined && Object.hasOwn(names, value)
