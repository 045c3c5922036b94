import { useSortable } from '@dnd-kit/sortable'
import { ActionIcon, Menu, Switch } from '@mantine/core'
import { GrabberIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { projectsQuery, routingQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { RowMenu } from './row-menu.tsx'
import { Row } from './rows.tsx'
import styles from './settings.module.css'

type Rule = Schema<'RoutingRule'>

interface RoutingItemProps {
  rule: Rule
  verdict: Schema<'RoutingTest'>['considered'][number] | undefined
  onMove(step: 1 | -1): void
  onEdit(): void
}

/** A routing rule with a drag handle that also takes the arrow keys. */
export function RoutingItem({ rule, verdict, onMove, onEdit }: RoutingItemProps) {
  const queryClient = useQueryClient()
  const { mutate, refresh } = useMutation('routing')
  const [isDeleting, setDeleting] = useState(false)
  const { attributes, listeners, setNodeRef, transform, transition, isDragging } = useSortable({
    id: rule.id,
  })
  const name = rule.name ?? conditionText(rule)
  const path = { id: rule.id }

  function setActive(isActive: boolean) {
    queryClient.setQueryData(routingQuery.queryKey, (rules) =>
      rules?.map((other) => (other.id === rule.id ? { ...other, isActive } : other)),
    )
    void mutate("Couldn't update the rule", () =>
      dataOf(api.PATCH('/api/webhook-routing/{id}', { params: { path }, body: { isActive } })),
    )
  }

  return (
    <>
      <Row
        ref={setNodeRef}
        name={rule.name}
        isOff={!rule.isActive}
        beside={
          <span>
            <RuleSentence rule={rule} />
          </span>
        }
        className={verdict?.outcome === 'won' ? styles.won : ''}
        style={{
          transform: transform ? `translateY(${transform.y}px)` : undefined,
          transition,
          position: 'relative',
          zIndex: isDragging ? 2 : undefined,
        }}
        start={
          <ActionIcon
            {...attributes}
            {...listeners}
            aria-label={`Move ${name} with the arrow keys`}
            style={{ cursor: 'grab', touchAction: 'none' }}
            onKeyDown={(event) => {
              if (!isDragging && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
                event.preventDefault()
                onMove(event.key === 'ArrowUp' ? -1 : 1)
              } else listeners?.onKeyDown?.(event)
            }}
          >
            <GrabberIcon size={16} />
          </ActionIcon>
        }
        actions={
          <>
            <Switch
              checked={rule.isActive}
              onChange={(event) => setActive(event.currentTarget.checked)}
              aria-label={`${name} is active`}
            />
            <RowMenu of={name}>
              <Menu.Item onClick={onEdit}>Edit</Menu.Item>
              <Menu.Item onClick={() => onMove(-1)}>Move up</Menu.Item>
              <Menu.Item onClick={() => onMove(1)}>Move down</Menu.Item>
              <Menu.Item c="var(--red)" onClick={() => setDeleting(true)}>
                Delete
              </Menu.Item>
            </RowMenu>
          </>
        }
      >
        {verdict && (
          <div
            className="small"
            style={{ color: verdict.outcome === 'won' ? 'var(--green)' : 'var(--quiet)' }}
          >
            {verdict.outcome === 'won' ? 'Matched: ' : 'Not used: '}
            {verdict.reason}
          </div>
        )}
      </Row>
      {isDeleting && (
        <ConfirmDialog
          title={rule.name ? `Delete “${name}”?` : `Delete the rule for ${name}?`}
          verb="Delete rule"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/webhook-routing/{id}', { params: { path } }))
            await refresh()
          }}
        >
          New feedback is routed by the remaining rules. Existing tasks are not moved.
        </ConfirmDialog>
      )}
    </>
  )
}

/** The name of an unnamed rule. */
const conditionText = ({ projectMatch, appMatch }: Rule) =>
  [projectMatch && `project ${projectMatch}`, appMatch && `app ${appMatch}`].filter(Boolean).join(' and ')

function RuleSentence({ rule }: { rule: Rule }) {
  const { data: projects } = useQuery(projectsQuery)
  const target = projects?.find(({ id }) => id === rule.targetProjectId)
  return (
    <>
      When{' '}
      {rule.appMatch && (
        <>
          app is <em>{rule.appMatch}</em>
        </>
      )}
      {rule.appMatch && rule.projectMatch && ' and '}
      {rule.projectMatch && (
        <>
          project is <em>{rule.projectMatch}</em>
        </>
      )}
      , put feedback in <em>{target?.name ?? 'a deleted project'}</em>
      {target?.archivedAt && ' (archived, skipped)'}
    </>
  )
}
