import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf } from '../api/client.ts'
import type { Project } from '../api/queries.ts'
import { useAllLists } from '../api/use-all-lists.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'
import { formatSearch } from '../navigation/search-params.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import type { ListProps } from './property-steps.tsx'

/** Goes to the tasks of a project. */
export function ProjectStep(props: ListProps) {
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  const allLists = useAllLists({ isEnabled: false })
  return (
    <OptionList
      {...props}
      label="Go to project"
      placeholder="Go to project…"
      options={allLists.map(({ project: { id, name } }) => ({
        id,
        label: name,
        group: 'Projects',
        run: () => navigate(`/tasks${formatSearch({ projectId: id })}`),
      }))}
      text={text}
      onType={setText}
      isNumbered
      // There is always one.
      isSettled={allLists.length > 0}
    />
  )
}

/** What is typed becomes the name of a new project. */
export function NewProjectStep(props: ListProps) {
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  const { mutate } = useMutation('projects')
  const sendOnce = useIdempotentSend('project')
  const name = text.trim()
  async function create() {
    const body = { name }
    const project = await mutate("Couldn't create the project", () =>
      sendOnce(body, (header) => dataOf(api.POST('/api/projects', { params: { header }, body }))),
    )
    if (project) navigate(`/projects/${project.id}`)
  }
  const option = { id: 'new', label: `Create project “${name}”`, group: 'New project', isFound: true }
  return (
    <OptionList
      {...props}
      label="New project"
      placeholder="Name of the new project…"
      options={name ? [{ ...option, run: () => void create() }] : []}
      text={text}
      onType={setText}
      isSettled
      none="Type its name."
    />
  )
}

/** What is typed becomes the name of a new list, in the project that is shown or another one. */
export function NewListStep(props: ListProps) {
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  const { projectId } = useFilters()
  const { mutate } = useMutation('lists')
  const sendOnce = useIdempotentSend('list')
  const allLists = useAllLists({ isEnabled: false })
  const name = text.trim()
  async function create({ id }: Project) {
    const body = { name }
    const list = await mutate("Couldn't add the list", () =>
      sendOnce({ ...body, id }, (header) =>
        dataOf(api.POST('/api/projects/{id}/lists', { params: { path: { id }, header }, body })),
      ),
    )
    if (list) navigate(`/tasks${formatSearch({ projectId: id, listId: list.id })}`)
  }
  const projects = allLists.map(({ project }) => project)
  const shownFirst = [
    ...projects.filter(({ id }) => id === projectId),
    ...projects.filter(({ id }) => id !== projectId),
  ]
  const options = shownFirst.map(
    (project): Option => ({
      id: project.id,
      label: `Create “${name}” in ${project.name}`,
      group: 'New list',
      isFound: true,
      run: () => void create(project),
    }),
  )
  return (
    <OptionList
      {...props}
      label="New list"
      placeholder="Name of the new list…"
      options={name ? options : []}
      text={text}
      onType={setText}
      isSettled={projects.length > 0}
      none="Type its name."
    />
  )
}
