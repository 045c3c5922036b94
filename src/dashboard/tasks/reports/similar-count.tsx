import { useQuery } from '@tanstack/react-query'
import { projectsQuery, type TaskListItem } from '../../api/queries.ts'
import { similarQuery, similarText } from './queries.ts'

/** How many tasks resemble the feedback of a row; asked once the row is shown. */
export default function SimilarCount({ task, className }: { task: TaskListItem; className?: string }) {
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === task.projectId)
  const isShown = project !== undefined && project.groupFeedback !== 'off'
  const { data } = useQuery({ ...similarQuery(task.id), enabled: isShown })
  if (!isShown || !data || data.data.length === 0) return null
  return <span className={className}>{similarText(data.data.length)}</span>
}
