import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { Button, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { projectsQuery, routingQuery } from '../api/queries.ts'
import { Curl } from '../components/curl.tsx'
import { EmptyPage } from '../components/empty-page.tsx'
import { NotLoaded } from '../components/load-error.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { PageHead } from './page-header.tsx'
import { RoutingDialog } from './routing-dialog.tsx'
import { RoutingItem } from './routing-item.tsx'
import { RoutingTrial } from './routing-trial.tsx'
import styles from './settings.module.css'

type Rule = Schema<'RoutingRule'>
type Trial = Schema<'RoutingTest'>

/** Which feedback goes to which project: sentences in an order, and a place to try them. */
export function RoutingPage() {
  const cache = useQueryClient()
  const query = useQuery(routingQuery)
  const [editing, setEditing] = useState<Rule | 'new'>()
  const { data: projects } = useQuery(projectsQuery)
  const [tried, setTried] = useState<{ trial: Trial; rules: Rule[] | undefined }>()
  // What was tried against other rules says nothing of these.
  const trial = tried?.rules === query.data ? tried?.trial : undefined
  return (
    <div className={`${styles.content} ${styles.wide}`}>
      <PageHead title="Webhook Routing" action={<Button onClick={() => setEditing('new')}>Add rule</Button>}>
        Decides which project gets a piece of feedback. A match of app and project outranks one of the app,
        and that one of the project; among equals the upper rule wins. What matches nothing goes to the
        default project.
      </PageHead>
      <div className={styles.halves}>
        <section className={styles.section} aria-label="Rules">
          {query.isPending && <Skeleton height={160} />}
          {query.isError && <NotLoaded what="The rules" query={query} />}
          {query.data?.length === 0 && (
            <EmptyPage
              title="No rules yet"
              purpose="Without one, feedback goes to the project it names, or else to the default project."
              action={<Button onClick={() => setEditing('new')}>Add a rule</Button>}
            >
              <Curl
                path="/api/webhook-routing"
                body={{ appMatch: 'com.example.app', targetProjectId: projects?.[0]?.id ?? '<project id>' }}
              />
            </EmptyPage>
          )}
          {query.data && query.data.length > 0 && (
            <SortableRules rules={query.data} trial={trial} onEdit={setEditing} />
          )}
        </section>
        <RoutingTrial
          trial={trial}
          isReady={query.data !== undefined}
          onTrial={(trial) => setTried(trial && { trial, rules: cache.getQueryData(routingQuery.queryKey) })}
        />
      </div>
      {editing && (
        <RoutingDialog rule={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />
      )}
    </div>
  )
}

interface SortableRulesProps {
  rules: Rule[]
  trial: Trial | undefined
  onEdit(rule: Rule): void
}

function SortableRules({ rules, trial, onEdit }: SortableRulesProps) {
  const cache = useQueryClient()
  const { act } = useMutation('routing')
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )

  function drop({ active, over }: DragEndEvent) {
    const from = rules.findIndex(({ id }) => id === active.id)
    const to = rules.findIndex(({ id }) => id === over?.id)
    if (from >= 0 && to >= 0 && from !== to) void moveTo(from, to)
  }

  async function moveTo(from: number, to: number) {
    const moved = rules[from]
    if (!moved || to < 0 || to >= rules.length) return
    cache.setQueryData(routingQuery.queryKey, arrayMove(rules, from, to))
    await act('The order was not changed', () =>
      dataOf(
        api.PATCH('/api/webhook-routing/{id}', {
          params: { path: { id: moved.id } },
          body: { position: to },
        }),
      ),
    )
  }

  return (
    <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={drop}>
      <SortableContext items={rules} strategy={verticalListSortingStrategy}>
        <ol className={styles.rows}>
          {rules.map((rule, index) => (
            <RoutingItem
              key={rule.id}
              rule={rule}
              verdict={trial?.considered.find(({ ruleId }) => ruleId === rule.id)}
              onMove={(step) => void moveTo(index, index + step)}
              onEdit={() => onEdit(rule)}
            />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  )
}
