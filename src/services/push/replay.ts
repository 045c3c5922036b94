import { pushNotReplayable } from '../../errors/index.ts'
import type { DeliveryRow } from '../../repositories/deliveries/store.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { Caller } from '../access.ts'
import { writableProject } from '../writable-project.ts'
import type { PushService } from './index.ts'

/** Applies a delivery of the code host again, whatever its outcome was. */
export function pushReplay({ repos, push }: { repos: Repositories; push: Pick<PushService, 'wake'> }) {
  /** @throws project_archived, delivery_not_replayable */
  return async function replay(caller: Caller, { id, projectId, connectionId, payload }: DeliveryRow) {
    if (payload === null || !projectId || !connectionId) throw pushNotReplayable(id)
    await repos.within(caller).transaction(async (repos) => {
      await writableProject(repos, { id: projectId })
      await repos.pushedDeliveries.reset(connectionId, id)
    })
    push.wake()
  }
}
