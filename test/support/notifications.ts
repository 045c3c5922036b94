import type { TestApp } from './app.ts'
import type { SignedIn } from './people.ts'

/** Tells people of all that has changed until now, as the worker does. */
export async function notifyAll({ service, query }: Pick<TestApp, 'service' | 'query'>): Promise<void> {
  const { end } = await service.sequencer.catchUp()
  // Another instance may be at it.
  for (let position = -1; position < end.position; ) {
    while (await service.notificationFeed.work());
    ;[{ position }] = await query('select position::float8 from notification_progress')
  }
}

export interface ReceivedNotification {
  id: string
  reason: string
  taskId: string | null
  count: number
  readAt: string | null
  actor: { type: string; id: string | null; name: string }
}

/** What a person was told, newest first, after all was told. */
export async function notificationsOf(
  service: TestApp,
  { with: options }: SignedIn,
  query = '',
): Promise<ReceivedNotification[]> {
  await notifyAll(service)
  return (await service.get(`/api/notifications?limit=200${query}`, options)).body.data
}

/** The same as lines. */
export const linesOf = (all: ReceivedNotification[]): string[] =>
  all.map(({ reason, count }) => `${reason} ${count}`)
