import { sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { deliveries } from '../../db/tables/deliveries.ts'
import { feedbackUnreadable } from '../../db/tables/feedback.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { lockingProjects } from '../locking-projects.ts'
import { namingViolations } from '../task-violations.ts'
import { insertingTasks, type TaskRow, tasksAndActivity } from '../tasks.ts'
import { type DeliveryRow, deliverySet, inLockOrder } from './store.ts'

/** Accepted feedback: its deliveries, tasks and activity. */
interface Acceptance {
  rows: DeliveryRow[]
  tasks: TaskRow[]
  activities: ActivityRow[]
}

const acceptFeedback = preparedStatement<{ isOpen: boolean; made: string[] }>(
  'accept feedback',
  sql`
    with ${lockingProjects}, place as (
      select count(*) = cardinality(${sql.placeholder('projectIds')}::uuid[]) as is_open from open
    ), fresh as (
      insert into ${deliveries} (${deliverySet.names})
      ${deliverySet.select('rows', sql`(select is_open from place)`)}
      on conflict do nothing returning id, (tasks -> 0 ->> 'taskId')::uuid as task_id
    ), ${insertingTasks(sql`id in (select task_id from fresh)`)}
    select is_open as "isOpen", array(select id from fresh) as made from place`,
)

/** What only the feedback receiver does with deliveries. */
export function feedbackRepository(db: Executor) {
  return {
    /**
     * Inserts deliveries with their tasks and activity in one statement. Returns the ids of inserted deliveries; the
     * others exist already, by their deduplication key. Returns undefined, and inserts nothing, if one of the projects
     * was archived or deleted meanwhile.
     */
    async accept({ rows, tasks, activities }: Acceptance): Promise<Set<string> | undefined> {
      const { rows: result } = await acceptFeedback(db, {
        rows: JSON.stringify(inLockOrder(rows)),
        ...tasksAndActivity(tasks, activities),
      }).catch(namingViolations())
      return result[0]?.isOpen ? new Set(result[0].made) : undefined
    },

    /** Counts a delivery that was not JSON. */
    async countUnreadable(day: string): Promise<void> {
      await db
        .insert(feedbackUnreadable)
        .values({ day, count: 1 })
        .onConflictDoUpdate({
          target: feedbackUnreadable.day,
          set: { count: sql`${feedbackUnreadable.count} + 1` },
        })
    },
  }
}
