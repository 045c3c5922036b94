import { feedback, sender, WEBHOOK_SECRET } from '../../support/feedback.ts'
import type { AppInBrowser } from './browser.ts'

/** Sends feedback with the same note; returns the ids of its tasks. The service needs `WEBHOOK_SECRET`. */
export async function sendEqual({ service }: AppInBrowser, count: number): Promise<string[]> {
  const send = sender(service.url, WEBHOOK_SECRET)
  const ids: string[] = []
  for (let number = 0; number < count; number++)
    ids.push((await send(feedback({ note: 'Notifications arrive twice' }))).body.taskId)
  return ids
}
