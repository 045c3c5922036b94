import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Project, projectsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { FormEnd } from '../components/form-end.tsx'
import { LoadError } from '../components/load-error.tsx'
import { Loading } from '../components/loading.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { plural } from '../lib/plural.ts'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { PageHeader } from '../settings/page-header.tsx'
import { Section } from '../settings/section.tsx'
import styles from '../settings/settings.module.css'
import { Codehost } from './codehost.tsx'
import { Lists } from './lists.tsx'

export default function ProjectPage() {
  const { projectId = '' } = useParams()
  const query = useQuery(projectsQuery)
  const project = query.data?.find(({ id }) => id === projectId)
  return (
    <div className={`${styles.page} ${styles.alone}`}>
      <div className={styles.content} key={projectId}>
        {query.isPending && (
          <Loading what="the project" height={240} query={query} queryKey={projectsQuery.queryKey} />
        )}
        {query.isError && <LoadError what="the project" query={query} />}
        {query.isSuccess && !project && (
          <PageHeader
            title="Project not found"
            tabTitle="Project settings"
            action={
              <Link to="/tasks" className="target">
                View all tasks
              </Link>
            }
          >
            It may have been deleted, or your key does not have access to it.
          </PageHeader>
        )}
        {project && <ProjectSettings project={project} />}
      </div>
    </div>
  )
}

function ProjectSettings({ project }: { project: Project }) {
  const { can, isServiceWide } = useMe()
  const isArchived = project.archivedAt !== null
  const mayManage = can('admin')
  return (
    <>
      <PageHeader title={project.name} tabTitle={`${project.name} settings`}>
        Project settings.{' '}
        <Link to="/tasks" search={{ projectId: project.id }}>
          {project.openCount > 0 ? `View ${plural(project.openCount, 'open task')}` : 'View tasks'}
        </Link>
      </PageHeader>
      {isArchived && (
        <p role="status" className={styles.warning}>
          This project is archived and read-only.
        </p>
      )}
      {mayManage && <NameForm project={project} />}
      {mayManage && !isArchived && (
        <>
          <Choice
            project={project}
            title="Triage"
            choices={TRIAGE}
            value={project.triage}
            change={(triage) => ({ triage })}
          />
          <Choice
            project={project}
            title="Similar feedback"
            choices={GROUPING}
            value={project.groupFeedback}
            change={(groupFeedback) => ({ groupFeedback })}
          />
        </>
      )}
      <Codehost project={project} />
      <Lists project={project} mayWrite={can('tasks:write') && !isArchived} />
      {mayManage && isServiceWide && <ArchiveOrDelete project={project} isArchived={isArchived} />}
    </>
  )
}

function NameForm({ project }: { project: Project }) {
  const { mutate, isBusy } = useMutation('projects')
  const draft = useFormDraft(`project:${project.id}`, { name: project.name })
  const { name } = draft.values

  async function rename(event: FormEvent) {
    event.preventDefault()
    const params = { path: { id: project.id } }
    const renamed = await mutate("Couldn't rename the project", () =>
      dataOf(api.PATCH('/api/projects/{id}', { params, body: { name: name.trim() } })),
    )
    if (renamed) draft.complete({ name }, renamed)
  }

  return (
    <form className={`stack ${styles.form}`} onSubmit={(event) => void rename(event)}>
      <TextInput
        label="Name"
        value={name}
        maxLength={100}
        required
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
      />
      <FormEnd
        draft={draft}
        verb="Rename"
        error={undefined}
        isBusy={isBusy}
        isDisabled={name.trim() === '' || name.trim() === project.name}
      />
    </form>
  )
}

type Choices<Value extends string> = Record<Value, [label: string, description: string]>

const TRIAGE: Choices<Project['triage']> = {
  on: ['On', 'What arrives waits in Triage until somebody decides.'],
  off: ['Off', 'Everything that arrives is accepted.'],
}

const GROUPING: Choices<Project['groupFeedback']> = {
  off: ['Off', 'Similar feedback isn’t shown.'],
  suggest: ['Suggest', 'Similar feedback is shown, and you decide what to merge.'],
  auto: [
    'Merge',
    'Similar feedback is shown. New feedback with the same note as open feedback is merged into it, if the note has at least 12 letters or digits.',
  ],
}

interface ChoiceProps<Value extends string> {
  project: Project
  title: string
  choices: Choices<Value>
  value: Value
  change(value: Value): Schema<'ProjectChange'>
}

function Choice<Value extends string>({ project, title, choices, value, change }: ChoiceProps<Value>) {
  const { mutate, isBusy } = useMutation('projects')
  return (
    <Section title={title}>
      <SegmentedControl
        aria-label={title}
        style={{ justifySelf: 'start' }}
        disabled={isBusy}
        value={value}
        data={(Object.keys(choices) as Value[]).map((value) => ({ value, label: choices[value][0] }))}
        onChange={(value) =>
          void mutate("Couldn't change the setting", () =>
            dataOf(
              api.PATCH('/api/projects/{id}', {
                params: { path: { id: project.id } },
                body: change(value),
              }),
            ),
          )
        }
      />
      <p className="quiet small">{choices[value][1]}</p>
    </Section>
  )
}

function ArchiveOrDelete({ project, isArchived }: { project: Project; isArchived: boolean }) {
  const [, navigate] = useLocation()
  const { mutate, refresh, isBusy } = useMutation('projects')
  const [isDeleting, setDeleting] = useState(false)
  const params = { path: { id: project.id } }
  return (
    <Section
      title={isArchived ? 'Archived' : 'Archive or delete'}
      description="Archived projects are read-only. Only an empty project can be deleted."
    >
      <div className="row row-wrap">
        <Button
          variant="default"
          loading={isBusy}
          onClick={() =>
            void mutate(isArchived ? "Couldn't unarchive the project" : "Couldn't archive the project", () =>
              dataOf(
                isArchived
                  ? api.POST('/api/projects/{id}/unarchive', { params })
                  : api.POST('/api/projects/{id}/archive', { params }),
              ),
            )
          }
        >
          {isArchived ? 'Unarchive project' : 'Archive project'}
        </Button>
        <Button variant="default" onClick={() => setDeleting(true)}>
          Delete project
        </Button>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete “${project.name}”?`}
          verb="Delete project"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/projects/{id}', { params }))
            await refresh()
            navigate('/tasks')
          }}
        >
          The project and its lists are deleted permanently. A project that has tasks, rules or keys can't be
          deleted.
        </ConfirmDialog>
      )}
    </Section>
  )
}
