import { QuestionIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { plural } from '../lib/plural.ts'
import { Link } from '../navigation/link.tsx'
import { isOfQuestions, QUESTIONS } from './filters.ts'
import { totalQuery } from './list/total-query.ts'
import { useFilters } from './use-filters.ts'

/** Leads to the tasks that need an answer, in all projects; nothing when none does. */
export default function QuestionsLink(classNames: { className?: string; activeClassName?: string }) {
  const { data } = useQuery(totalQuery(QUESTIONS))
  const [pathname] = useLocation()
  const isShown = isOfQuestions(useFilters()) && pathname.startsWith('/tasks')
  if (!data?.total) return null
  return (
    <Link to="/tasks" search={QUESTIONS} isActive={isShown} {...classNames}>
      <QuestionIcon size={16} aria-hidden />
      <span>{plural(data.total, 'question')}</span>
    </Link>
  )
}
