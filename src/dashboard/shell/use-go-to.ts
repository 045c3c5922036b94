import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { toast } from '../components/toast.ts'
import { openPalette } from '../keyboard/shortcuts.ts'
import { NO_PERSON, useMe } from '../session/session.ts'
import { formatFilters, workOf } from '../tasks/filters.ts'

const PAGES = new Map([
  ['t', '/triage'],
  ['o', '/overview'],
  ['a', '/tasks'],
  ['n', '/notifications'],
  ['s', '/settings/instructions'],
  ['x', '/trash'],
])

/** Where the key `g` and a letter go. */
export function useGoTo() {
  const [, navigate] = useLocation()
  const { me } = useMe()
  const username = me?.user?.username
  return useCallback(
    (letter: string) => {
      const page = PAGES.get(letter)
      if (page) navigate(page)
      else if (letter === 'p') openPalette({ step: 'projects', tasks: [] })
      else if (letter !== 'm') return
      else if (username) navigate(`/tasks${formatFilters(workOf(username))}`)
      else toast.info(NO_PERSON)
    },
    [navigate, username],
  )
}
