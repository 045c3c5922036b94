import { type DeliveryReading, readDelivery } from '../../domain/feedback/reading.ts'
import { notJson } from '../../errors/index.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { FeedbackReceipt } from '../../schemas/feedback.ts'
import type { SourceReceipt, SourceTestResult } from '../../schemas/source-delivery.ts'
import { tasksIn } from '../deliveries.ts'
import { FEEDBACK_LIST, type routingService } from '../feedback/routing.ts'

export type FeedbackTests = ReturnType<typeof feedbackTests>

/** Tests of sources whose mapping is `feedback`. */
export function feedbackTests({
  repos,
  routing,
}: {
  repos: Repositories
  routing: Pick<ReturnType<typeof routingService>, 'test'>
}) {
  const { deliveries } = repos.within(everywhere)

  return {
    /** The task that an event would make, and where. Changes nothing. */
    async test(bytes: Uint8Array): Promise<SourceTestResult> {
      const reading = readDelivery(bytes)
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      const errors = reading.outcome === 'rejected' ? reading.errors : []
      if (reading.outcome !== 'accepted') {
        const outcome = reading.outcome === 'ignored' ? 'filtered' : 'rejected'
        return { outcome, tasks: [], filtered: 0, errors }
      }
      return { outcome: 'accepted', tasks: [await testedTask(reading)], filtered: 0, errors }
    },
  }

  async function testedTask(reading: DeliveryReading & { outcome: 'accepted' }) {
    const { dedupKey, task } = reading.event
    const { title, description, priority, labels } = task
    const { explanation } = await routing.test(reading)
    const [before] = await deliveries.listByKeys([dedupKey])
    return {
      item: 0,
      task: { title, ...(description !== null && { description }), priority, labels },
      existingTaskId: (before && tasksIn(before)[0]?.taskId) ?? null,
      reopens: false,
      explanation: before ? explanation : `Creates a task in the list “${FEEDBACK_LIST}”. ${explanation}`,
    }
  }
}

/** The response of a source to an accepted event. */
export const sourceReceiptOf = (receipt: FeedbackReceipt): SourceReceipt => ({
  ...receipt,
  tasks: [{ taskId: receipt.taskId, created: !receipt.duplicate }],
})
