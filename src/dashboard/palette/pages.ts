import { useLocation } from 'wouter'
import { useAllLists } from '../api/use-all-lists.ts'
import { formatSearch } from '../navigation/search-params.ts'
import { useMe } from '../session/session.ts'
import { settingsPages } from '../settings/settings-pages.ts'
import { formatFilters, workOf } from '../tasks/filters.ts'
import type { Option } from './options.ts'
import { usePeople } from './typed-names.ts'

/** The pages to go to. Lists are offered once something is typed: there can be many. */
export function usePages(): Option[] {
  const [, navigate] = useLocation()
  const { me, can, isServiceWide } = useMe()
  const allLists = useAllLists()
  const page = (label: string, path: string): Option => ({
    id: `go-${path}`,
    label,
    group: 'Go to',
    run: () => navigate(path),
  })
  return [
    { ...page('Triage', '/triage'), shortcut: 'g t' },
    ...(can('tasks:read')
      ? [
          { ...page('Overview', '/overview'), shortcut: 'g o' },
          page('Feedback overview', '/overview/feedback'),
        ]
      : []),
    { ...page('All tasks', '/tasks'), shortcut: 'g a' },
    ...(me?.user
      ? [
          { ...page('My work', tasksOf(me.user.username)), shortcut: 'g m' },
          { ...page('Notifications', '/notifications'), shortcut: 'g n' },
        ]
      : []),
    ...allLists.flatMap(({ project: { id: projectId, name }, lists }) => [
      page(name, `/tasks${formatSearch({ projectId })}`),
      ...[
        ...lists.map((list) =>
          page(`${name} / ${list.name}`, `/tasks${formatSearch({ projectId, listId: list.id })}`),
        ),
        page(`${name} project settings`, `/projects/${projectId}`),
      ].map((option) => ({ ...option, isHidden: true })),
    ]),
    ...(can('tasks:read') ? [{ ...page('Trash', '/trash'), shortcut: 'g x' }] : []),
    ...settingsPages({ isPerson: Boolean(me?.user), isAdmin: can('admin'), isServiceWide }).map(
      ({ path, label }) => ({
        ...page(label, path),
        keywords: 'settings',
      }),
    ),
    { ...page('API reference', '/docs'), run: () => location.assign('/docs') },
  ]
}

const tasksOf = (username: string) => `/tasks${formatFilters(workOf(username))}`

/** The tasks of each person, once something is typed. */
export function usePersonPages(isTyped: boolean) {
  const [, navigate] = useLocation()
  const { can } = useMe()
  const { data, isLoading } = usePeople({ isEnabled: isTyped && can('tasks:read') })
  return {
    isSettled: !isLoading,
    options: data.map(
      ({ username, name }): Option => ({
        id: `person-${username}`,
        label: `Tasks of ${name}`,
        group: 'People',
        keywords: username,
        aside: username,
        run: () => navigate(tasksOf(username)),
      }),
    ),
  }
}
