import type { Syncing } from './syncing.ts'

type Connected = Awaited<ReturnType<Syncing['connected']>>

/** Projects that bring comments in, and what is stored of them. */
export function syncedComments(service: () => Syncing) {
  const commentsOf = ({ project }: Pick<Connected, 'project'>) =>
    service().query(
      `select comments.*, tasks.codehost_number as number, tasks.comment_count from comments
       join tasks on tasks.id = task_id where tasks.project_id = $1 order by comments.id`,
      [project.id],
    )
  return {
    withComments: (fill = 0) => service().connected({ comments: true }, fill),
    commentsOf,
    bodiesOf: async (connected: Connected) => (await commentsOf(connected)).map(({ body }) => body),
    activityOf: ({ project }: Connected, type: string) =>
      service().query(
        `select actor_type, actor_name, task_id, metadata from activity
         where project_id = $1 and type = $2 order by id`,
        [project.id, type],
      ),
  }
}
