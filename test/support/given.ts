import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/pool.ts'
import { apiKeySecrets, apiKeys } from '../../src/db/tables/access.ts'
import { activity } from '../../src/db/tables/activity.ts'
import { codehostConnections } from '../../src/db/tables/codehost.ts'
import { lists, projects } from '../../src/db/tables/projects.ts'
import { tasks } from '../../src/db/tables/tasks.ts'
import { newTask, originIn } from '../../src/domain/new-task.ts'
import { keySecret } from '../../src/domain/secret.ts'
import type { Clock } from '../../src/lib/clock.ts'

/** Builders that insert rows directly, with a default for everything that is not given. */
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

    /** Many plain tasks, in one statement. */
    async tasks(list: { id: string; projectId: string }, count: number, { isDeleted = false } = {}) {
      await db.$client.query(
        `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
           created_by_type, created_by_name, created_at, updated_at, deleted_at, version)
         select gen_random_uuid(), 'A task', 'open', 2, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), $4, 1
         from generate_series(1, $3)`,
        [list.projectId, list.id, count, isDeleted ? new Date() : null],
      )
    },

    /** Connects a project without asking the code host. */
    async connection(projectId: string, values: Partial<typeof codehostConnections.$inferInsert> = {}) {
      const now = clock.now()
      const [connection] = await db
        .insert(codehostConnections)
        .values({
          id: clock.newId(now),
          projectId,
          repositoryId: 1,
          repository: 'acme/app',
          apiUrl: 'https://api.codehost.example',
          schedule: 'off',
          nextFullAt: now,
          connectedAt: now,
          updatedAt: now,
          ...values,
        })
        .returning()
      return only(connection)
    },

    /** A task that no route of the API could create. */
    async task(list: { id: string; projectId: string }, values: Partial<typeof tasks.$inferInsert> = {}) {
      const now = values.createdAt ?? clock.now()
      const destination = { listId: list.id, projectId: list.projectId, isTriageOn: false }
      const actor = { type: 'system', id: null, name: 'test' } as const
      const creation = { now, destination, actor, origin: originIn('api') }
      const row = newTask({ title: 'A task' }, { id: clock.newId(now), ...creation })
      const [task] = await db
        .insert(tasks)
        .values({ ...row, ...values })
        .returning()
      return only(task)
    },

    /** A task with many comments. */
    async taskWithComments(
      list: { id: string; projectId: string },
      { count, ...values }: Partial<typeof tasks.$inferInsert> & { count: number },
    ) {
      const task = await this.task(list, { ...values, commentCount: count })
      await db.$client.query(
        `insert into comments (id, task_id, body, author_type, author_name, is_public, created_at, updated_at)
         select gen_random_uuid(), $1, 'A comment', 'system', 'test', false, now(), now()
         from generate_series(1, $2)`,
        [task.id, count],
      )
      return task
    },

    /** A row of the activity log with an id of its time; returns the id. */
    async activity(values: Partial<typeof activity.$inferInsert> = {}) {
      const createdAt = values.createdAt ?? clock.now()
      const id = values.id ?? clock.newId(createdAt)
      const actor = { actorType: 'system', actorName: 'test' } as const
      await db.insert(activity).values({ type: 'test', ...actor, metadata: {}, createdAt, ...values, id })
      return id
    },

    /** An API key; returns its secret. */
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
