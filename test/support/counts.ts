import type { TestApp } from './app.ts'

/** How many tasks and activities a project has. */
export async function countIn({ query }: Pick<TestApp, 'query'>, projectId: string) {
  const [row] = await query(
    `select (select count(*)::int from tasks where project_id = $1) as tasks,
            (select count(*)::int from activity where project_id = $1) as activities`,
    [projectId],
  )
  return row
}
