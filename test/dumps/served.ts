import type { Api } from '../support/api-client.ts'

/** Every response of a version that a later one has to return as well, by its path. */
export type Served = Record<string, unknown>

/** Reads all that a version serves of its data. Its schema is the number of its last migration. */
export async function readServed({ get }: Pick<Api, 'get'>, schema: number): Promise<Served> {
  const served: Served = {}
  const rules = new Set<string>()
  const read = async (path: string) => {
    const body = await get(path)
    served[path] = body
    return body.data
  }
  for (const { id, codehost } of await read('/api/projects?limit=200')) {
    await read(`/api/projects/${id}/lists`)
    for (const task of await read(`/api/tasks?projectId=${id}&limit=200`)) {
      if (task.commentCount > 0) await read(`/api/tasks/${task.id}/comments`)
      if (task.reports > 1) await read(`/api/tasks/${task.id}/reports`)
    }
    for (const rule of await read(`/api/rules?includeInactive=true&projectId=${id}`)) rules.add(rule.id)
    if (!codehost) continue
    await read(`/api/projects/${id}/codehost`)
    await read(`/api/codehost/${id}/syncs`)
  }
  if (schema >= 11) await read('/api/tasks?deleted=true')
  for (const id of rules) await read(`/api/rules/${id}/versions`)
  await read('/api/webhook-routing')
  if (schema >= 60)
    for (const { id } of await read('/api/deliveries?limit=200')) await read(`/api/deliveries/${id}`)
  else
    for (const { id } of await read('/api/analytics/events?limit=200'))
      await read(`/api/analytics/events/${id}`)
  await read('/api/activity?limit=200')
  if (schema >= 13) {
    await read('/api/labels')
    await read('/api/assignees')
  }
  if (schema >= 35) {
    for (const { id } of await read('/api/sources')) if (schema < 60) await read(`/api/sources/${id}/events`)
  }
  if (schema >= 36) await read('/api/saved-filters')
  if (schema >= 44) await read('/api/webhooks')
  return served
}
