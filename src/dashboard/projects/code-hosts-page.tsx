import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../api/client.ts'
import { type Project, projectsQuery } from '../api/queries.ts'
import { statusQuery } from '../api/status-query.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { Link } from '../navigation/link.tsx'
import { FailingBadge } from '../overview/failing-badge.tsx'
import { PipeFailure } from '../overview/pipe-failure.tsx'
import { useMe } from '../session/session.ts'
import { LastTime } from '../settings/last-time.tsx'
import { PageHeader } from '../settings/page-header.tsx'
import { Row, Rows } from '../settings/rows.tsx'
import { Section } from '../settings/section.tsx'
import { useSync } from './use-sync.ts'

type Pipe = Schema<'Pipe'>

/** The ways between a repository and its project. */
const WAYS = { sync: 'Sync', push: 'Webhook', write_back: 'Write-back' } as const
type Way = keyof typeof WAYS

const waysQuery = statusQuery({ kind: Object.keys(WAYS) as Way[] })

/** The repositories of all projects, and the projects that have none. */
export default function CodeHostsPage() {
  const query = useQuery(waysQuery)
  const projects = useQuery(projectsQuery)
  const active = projects.data?.filter(({ archivedAt }) => archivedAt === null) ?? []
  const byProject = Map.groupBy(query.data?.data ?? [], ({ projectId }) => projectId)
  const connected = active.flatMap((project) => {
    const pipes = byProject.get(project.id)
    return pipes ? [{ project, pipes }] : []
  })
  const others = query.data ? active.filter(({ id }) => !byProject.has(id)) : []
  return (
    <>
      <PageHeader title="Code hosts">
        Issues and pull requests of a repository become tasks of its project. Each project can have one
        repository, at GitHub or GitHub Enterprise Server.
      </PageHeader>
      <Rows
        label="repositories"
        query={projects.isSuccess ? query : projects}
        queryKey={(projects.isSuccess ? waysQuery : projectsQuery).queryKey}
        empty={
          active.length > 0 ? (
            <EmptyState
              title="No repositories yet"
              description="Choose one of these projects, and enter its repository and a token of the code host."
            />
          ) : (
            <EmptyState
              title="No active projects"
              description="Your projects are archived. Unarchive one in its settings to sync its repository."
            />
          )
        }
      >
        {connected.map(({ project, pipes }) => (
          <Repository key={project.id} project={project} pipes={pipes} />
        ))}
      </Rows>
      {others.length > 0 && (
        <Section title="Projects without a repository">
          <Rows label="projects" query={projects} queryKey={projectsQuery.queryKey}>
            {others.map((project) => (
              <Row
                key={project.id}
                name={project.name}
                actions={<EditLink project={project}>Connect repository</EditLink>}
              />
            ))}
          </Rows>
        </Section>
      )}
    </>
  )
}

interface RepositoryProps {
  project: Project
  /** Of its connection. */
  pipes: Pipe[]
}

/** A connection, when it was synced, and why it fails. */
function Repository({ project, pipes }: RepositoryProps) {
  const { can } = useMe()
  const { sync, isBusy } = useSync(project.id)
  const failing = pipes.filter(({ state }) => state === 'failing')
  const synced = pipes.find(({ kind }) => kind === 'sync')?.lastSuccessAt
  return (
    <Row
      name={
        <Link to={`/projects/${project.id}`} className="target">
          {pipes[0]?.name}
        </Link>
      }
      beside={failing.length > 0 && <FailingBadge />}
      details={
        <>
          {project.name} · <LastTime verb="synced" dateTime={synced} />
        </>
      }
      actions={
        <>
          {can('codehost:sync') && (
            <Button variant="default" loading={isBusy} onClick={() => void sync()}>
              Sync
            </Button>
          )}
          <EditLink project={project}>Edit connection</EditLink>
        </>
      }
    >
      {failing.map((pipe) => (
        <PipeFailure key={pipe.kind} pipe={pipe} prefix={`${WAYS[pipe.kind as Way]}: `} />
      ))}
    </Row>
  )
}

const EditLink = ({ project, children }: { project: Project; children: ReactNode }) => (
  <Button
    variant="default"
    renderRoot={(props) => <Link to={`/projects/${project.id}`} search={{ edit: 'connection' }} {...props} />}
  >
    {children}
  </Button>
)
