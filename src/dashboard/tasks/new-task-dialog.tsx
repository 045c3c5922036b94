import { Modal, Select, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf } from '../api/client.ts'
import { insertTasks } from '../api/list-positions.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import type { Task } from '../api/queries.ts'
import { recordsOf } from '../api/task-records.ts'
import { useAllLists } from '../api/use-all-lists.ts'
import { FormEnd } from '../components/form-end.tsx'
import { isEnterWithCommand } from '../components/is-enter.ts'
import { useDraft } from '../components/use-draft.ts'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMe } from '../session/session.ts'
import { formatFilters, PRIORITIES } from './filters.ts'
import { NameTags } from './name-tags.tsx'
import { SUBMITTED_DRAFT } from './new-task-loading.tsx'
import { useFilters } from './use-filters.ts'

const UNCHOSEN = {
  priority: 'medium' as Task['priority'],
  /** Null: the one that the page is about. */
  listId: null as string | null,
  labels: [] as string[],
  assignees: [] as string[],
}

/** All of it is a draft until it is sent. */
export default function NewTaskDialog({ onClose }: { onClose(): void }) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const { can } = useMe()
  const filters = useFilters()
  const allLists = useAllLists()
  const [title = '', setTitle] = useDraft('new-title')
  const [description = '', setDescription] = useDraft('new-description')
  const sendOnce = useIdempotentSend('new-task')
  const draft = useFormDraft('new-task', UNCHOSEN)
  const { priority, labels, assignees } = draft.values
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)
  const currentProject = allLists.find(({ project }) => project.id === filters.projectId) ?? allLists[0]
  const listId =
    draft.values.listId ??
    filters.listId ??
    currentProject?.lists.find(({ isDefault }) => isDefault)?.id ??
    null

  const projectId = allLists.find(({ lists }) => lists.some(({ id }) => id === listId))?.project.id

  async function create(event: FormEvent) {
    event.preventDefault()
    if (title.trim() === '' || isBusy) return
    const body = {
      title: title.trim(),
      priority,
      ...(description.trim() && { description }),
      ...(listId && { listId }),
      ...(labels.length > 0 && { labels }),
      ...(assignees.length > 0 && { assignees }),
    }
    setBusy(true)
    setProblem(undefined)
    try {
      const receive = recordsOf(queryClient).request()
      const task = await sendOnce(body, (header) =>
        dataOf(api.POST('/api/tasks', { params: { header }, body })),
      )
      discard()
      receive([task])
      insertTasks(queryClient, { filters, ids: [task.id] })
      onClose()
      navigate(`/tasks/${task.id}${formatFilters(filters)}`)
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }

  function discard() {
    setTitle(undefined)
    setDescription(undefined)
    draft.discard()
  }

  const form = useRef<HTMLFormElement>(null)
  const [submitted, setSubmitted] = useDraft(SUBMITTED_DRAFT)
  useEffect(() => {
    // The default list is known once the lists are loaded.
    if (!submitted || !listId) return
    setSubmitted(undefined)
    form.current?.requestSubmit()
  })

  function submitByKey(event: KeyboardEvent) {
    if (!isEnterWithCommand(event)) return
    event.preventDefault()
    // Submitted after the next render: this key may also add a label.
    setSubmitted('yes')
  }

  if (!can('tasks:write')) {
    return (
      <Modal opened onClose={onClose} title="New task">
        <p>
          You do not have the scope <code>tasks:write</code>.
        </p>
      </Modal>
    )
  }
  return (
    // The opener restores the focus: the dialog itself would restore it to the loading placeholder.
    <Modal opened onClose={onClose} size="lg" title="New task" returnFocus={false}>
      <form ref={form} onSubmit={create} onKeyDown={submitByKey} className="stack">
        <TextInput
          ref={focusAtEnd}
          label="Title"
          data-autofocus
          required
          maxLength={500}
          value={title}
          error={problem?.byField['/title']}
          onChange={(event) => setTitle(event.currentTarget.value || undefined)}
        />
        <Textarea
          label="Description"
          description="Markdown supported."
          autosize
          minRows={4}
          maxRows={14}
          maxLength={65_536}
          value={description}
          error={problem?.byField['/description']}
          onChange={(event) => setDescription(event.currentTarget.value || undefined)}
        />
        <div className="row row-wrap" style={{ alignItems: 'flex-start' }}>
          <Select
            label="List"
            data={allLists.map(({ project, lists }) => ({
              group: project.name,
              items: lists.map(({ id, name }) => ({ value: id, label: name })),
            }))}
            value={listId}
            onChange={(listId) => draft.change({ listId })}
            allowDeselect={false}
            style={{ flex: '1 1 160px' }}
          />
          <Select
            label="Priority"
            data={Object.entries(PRIORITIES).map(([value, label]) => ({ value, label }))}
            value={priority}
            allowDeselect={false}
            onChange={(value) => value && draft.change({ priority: value as Task['priority'] })}
            style={{ flex: '1 1 120px' }}
          />
          <NameTags
            kind="labels"
            projectId={projectId}
            label="Labels"
            value={labels}
            onChange={(labels) => draft.change({ labels })}
            style={{ flex: '1 1 160px' }}
          />
          <NameTags
            kind="assignees"
            projectId={projectId}
            label="Assignees"
            value={assignees}
            onChange={(assignees) => draft.change({ assignees })}
            style={{ flex: '1 1 160px' }}
          />
        </div>
        <FormEnd
          draft={{ isDraft: draft.isDraft || Boolean(title || description), isOutdated: false, discard }}
          verb="Create task"
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={title.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

/** Before the next key press. */
function focusAtEnd(title: HTMLInputElement | null) {
  title?.focus()
  title?.setSelectionRange(title.value.length, title.value.length)
}
