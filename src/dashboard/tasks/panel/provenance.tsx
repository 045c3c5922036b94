import { LinkExternalIcon } from '@primer/octicons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Activity, itemsOf, type Task, timelineQuery } from '../../api/queries.ts'
import { ExternalLink, isHttpUrl } from '../../components/external-link.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { iconOf, SourceIcon } from '../icons.tsx'
import { repositoryOf } from '../managed.ts'
import styles from './task-panel.module.css'

/** The source of a task and how it was routed. */
export function Provenance({ task }: { task: Task }) {
  return (
    <p className={styles.provenance}>
      <SourceIcon task={task} />
      <span className="breakable">
        <ProvenanceText task={task} />
        {task.externalUrl && isHttpUrl(task.externalUrl) && (
          <>
            {' · '}
            <ExternalLink url={task.externalUrl}>
              {task.source === 'codehost' ? 'View on code host' : 'View source'}{' '}
              <LinkExternalIcon size={13} aria-hidden />
            </ExternalLink>
          </>
        )}
      </span>
    </p>
  )
}

function ProvenanceText({ task }: { task: Task }): ReactNode {
  if (task.source === 'codehost') return <FromCodehost task={task} />
  if (task.source === 'analytics') return <FromFeedback task={task} />
  return (
    <>
      {AUTHORS[task.source]} <em>{task.createdBy.name}</em>, <RelativeTime dateTime={task.createdAt} />
    </>
  )
}

const AUTHORS: Record<Exclude<Task['source'], 'codehost' | 'analytics'>, string> = {
  api: 'Created over the API by key',
  dashboard: 'Created in the dashboard by',
  assistant: 'Created by an assistant with key',
  webhook: 'Sent by the source',
}

function FromCodehost({ task }: { task: Task }) {
  const [kind = '', state = ''] = iconOf(task).label.split(', ')
  const number = task.codehostPrNumber ?? task.codehostIssueNumber
  const repository = repositoryOf(task.externalUrl)
  return (
    <>
      {kind} #{number}
      {repository && (
        <>
          {' '}
          in <em>{repository}</em>
        </>
      )}
      , {state}
      {task.completedAt && task.closedReason ? (
        <>
          {' '}
          <RelativeTime dateTime={task.completedAt} />
        </>
      ) : null}
      , opened{' '}
      {task.author && (
        <>
          by <em>{task.author.name}</em>{' '}
        </>
      )}
      <RelativeTime dateTime={task.openedAt} />
    </>
  )
}

function FromFeedback({ task }: { task: Task }) {
  const { data } = useInfiniteQuery(timelineQuery(task.id))
  const properties = (task.metadata.properties ?? {}) as Record<string, unknown>
  const surface = [properties.surface, properties.app_version].filter(Boolean).join(' ')
  const received = itemsOf(data).find(({ type }) => type === 'feedback.received')
  return (
    <>
      Feedback{surface && <> from {surface}</>}
      {received && <>, {routingText(received)}</>}, <RelativeTime dateTime={task.openedAt} />
    </>
  )
}

function routingText({ metadata }: Activity): ReactNode {
  const name = metadata.ruleName ?? metadata.rule ?? metadata.name
  const texts: Record<string, string> = {
    project_name: 'routed by project name',
    project: 'routed by project',
    app: 'routed by app',
    both: 'routed by project and app',
    default: 'routed to the default project (no matching rule)',
  }
  if (typeof name === 'string' && name !== '') {
    return (
      <>
        routed by rule <em>{name}</em>
      </>
    )
  }
  return texts[String(metadata.matchedOn)] ?? 'routed'
}
