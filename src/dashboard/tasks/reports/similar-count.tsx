import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { projectsQuery, type TaskListItem } from '../../api/queries.ts'
import { similarQuery, similarText } from './queries.ts'

interface SimilarCountProps {
  task: TaskListItem
  /** Whether somebody is at the row. */
  isAsked: boolean
  className?: string
}

/** Rows that are passed on the way to another do not ask. */
const STAY_MS = 200

/** How many tasks resemble the feedback of a row: asked once somebody stays at the row, and shown from then on. */
export default function SimilarCount({ task, isAsked, className }: SimilarCountProps) {
  const { data: projects } = useQuery(projectsQuery)
  const hasStayed = useHasStayed(isAsked)
  const project = projects?.find(({ id }) => id === task.projectId)
  const isShown = project !== undefined && project.groupFeedback !== 'off'
  const { data } = useQuery({ ...similarQuery(task.id), enabled: isShown && hasStayed })
  if (!isShown || !data || data.data.length === 0) return null
  return <span className={className}>{similarText(data.data.length)}</span>
}

function useHasStayed(isThere: boolean): boolean {
  const [hasStayed, setHasStayed] = useState(false)
  useEffect(() => {
    if (!isThere) return
    const timer = setTimeout(() => setHasStayed(true), STAY_MS)
    return () => clearTimeout(timer)
  }, [isThere])
  return hasStayed
}
