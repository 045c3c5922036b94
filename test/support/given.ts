import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/pool.ts'
import { apiKeySecrets, apiKeys } from '../../src/db/tables/access.ts'
import { activity } from '../../src/db/tables/activity.ts'
import { lists, projects } from '../../src/db/tables/projects.ts'
import { tasks } from '../../src/db/tables/tasks.ts'
import { newTask } from '../../src/domain/new-task.ts'
import { keySecret } from '../../src/domain/secret.ts'
import type { Clock } from '../../src/lib/clock.ts'

/** Builders that write rows directly, each with what it needs filled in. */
export function given(db: Database, clock: Clock) {
  return {
    async project(values: Partial<typeof projects.$inferInsert> = {}) {
      const now = clock.now()
      const id = values.id ?? clock.newId(now)
      const [project] = await db
        .insert(projects)
        .values({ id, name: `Project ${id.slice(-4)}`, createdAt: now, updatedAt: now, ...values })
        .returning()
      const [inbox] = await db
        .insert(lists)
        .values({
          id: clock.newId(now),
          projectId: id,
          name: 'Inbox',
          position: 0,
          isDefault: true,
          createdAt: now,
        })
        .returning()
      return { ...only(project), inbox: only(inbox) }
    },

    async list(projectId: string, values: Partial<typeof lists.$inferInsert> = {}) {
      const now = clock.now()
      const [list] = await db
        .insert(lists)
        .values({ id: clock.newId(now), projectId, name: 'A list', position: 1, createdAt: now, ...values })
        .returning()
      return only(list)
    },

    /** A task as some other door would have made it. */
    async task(list: { id: string; projectId: string }, values: Partial<typeof tasks.$inferInsert> = {}) {
      const now = values.createdAt ?? clock.now()
      const destination = { listId: list.id, projectId: list.projectId }
      const actor = { type: 'system', id: null, name: 'test' } as const
      const row = newTask({ title: 'A task' }, { id: clock.newId(now), now, destination, actor })
      const [task] = await db
        .insert(tasks)
        .values({ ...row, ...values })
        .returning()
      return only(task)
    },

    /** An entry of the record, minted at its time; answers its id. */
    async activity(values: Partial<typeof activity.$inferInsert> = {}) {
      const createdAt = values.createdAt ?? clock.now()
      const id = values.id ?? clock.newId(createdAt)
      const by = { actorType: 'system', actorName: 'test' } as const
      await db.insert(activity).values({ type: 'test', ...by, metadata: {}, createdAt, ...values, id })
      return id
    },

    /** An API key; answers the secret to send. */
    async key(values: Partial<typeof apiKeys.$inferInsert> = {}) {
      const now = clock.now()
      const { text, hash, prefix, lastFour } = keySecret(randomBytes)
      const id = clock.newId(now)
      await db.insert(apiKeys).values({ id, name: 'A key', scopes: ['admin'], createdAt: now, ...values })
      await db.insert(apiKeySecrets).values({ hash, keyId: id, prefix, lastFour, createdAt: now })
      return text
    },
  }
}

/** What an insert of one row returns. */
function only<T>(row: T | undefined): T {
  if (!row) throw new Error('The insert returned no row.')
  return row
}
