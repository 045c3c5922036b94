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
import { Button } from '@mantine/core'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { projectsQuery, routingQuery } from '../api/queries.ts'
import { CurlExample } from '../components/curl-example.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { PageHeader } from './page-header.tsx'
import { RoutingDialog } from './routing-dialog.tsx'
import { RoutingItem } from './routing-item.tsx'
import { RoutingTest } from './routing-test.tsx'
import { Rows } from './rows.tsx'
import styles from './settings.module.css'

type Rule = Schema<'RoutingRule'>
type TestResult = Schema<'RoutingTest'>

export default function RoutingPage() {
  const queryClient = useQueryClient()
  const query = useQuery(routingQuery)
  const { opened, open, close } = useOpened('rule')
  const edited = query.data?.find(({ id }) => id === opened)
  const { data: projects } = useQuery(projectsQuery)
  const [lastTest, setLastTest] = useState<{ testResult: TestResult; rules: Rule[] | undefined }>()
  // A result for other rules is outdated.
  const testResult = lastTest?.rules === query.data ? lastTest?.testResult : undefined
  const add = <Button onClick={() => open('new')}>Add rule</Button>
  return (
    <>
      <PageHeader title="Webhook routing" action={query.data?.length !== 0 && add}>
        Rules route feedback to projects. Rules that match app and project come first, then app, then project;
        among equals, the topmost rule applies. Feedback that matches no rule goes to the default project.
      </PageHeader>
      <div className={styles.halves}>
        <section className={styles.section} aria-label="Rules">
          <SortableRules
            query={query}
            testResult={testResult}
            onEdit={({ id }) => open(id)}
            empty={
              <EmptyState
                title="No rules yet"
                description="Without rules, feedback goes to the project named in the event, or else to the default project."
                action={add}
              >
                <CurlExample
                  path="/api/webhook-routing"
                  body={{ appMatch: 'com.example.app', targetProjectId: projects?.[0]?.id ?? '<project id>' }}
                />
              </EmptyState>
            }
          />
        </section>
        <RoutingTest
          result={testResult}
          isReady={query.data !== undefined}
          onResult={(testResult) =>
            setLastTest(testResult && { testResult, rules: queryClient.getQueryData(routingQuery.queryKey) })
          }
        />
      </div>
      {(edited || opened === 'new') && <RoutingDialog key={opened} rule={edited} onClose={close} />}
    </>
  )
}

interface SortableRulesProps {
  query: UseQueryResult<Rule[]>
  testResult: TestResult | undefined
  empty: ReactNode
  onEdit(rule: Rule): void
}

function SortableRules({ query, testResult, empty, onEdit }: SortableRulesProps) {
  const { data: rules = [] } = query
  const queryClient = useQueryClient()
  const { mutate } = useMutation('routing')
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )

  function onDrop({ active, over }: DragEndEvent) {
    const from = rules.findIndex(({ id }) => id === active.id)
    const to = rules.findIndex(({ id }) => id === over?.id)
    if (from >= 0 && to >= 0 && from !== to) void moveTo(from, to)
  }

  async function moveTo(from: number, to: number) {
    const moved = rules[from]
    if (!moved || to < 0 || to >= rules.length) return
    queryClient.setQueryData(routingQuery.queryKey, arrayMove(rules, from, to))
    await mutate("Couldn't reorder the rules", () =>
      dataOf(
        api.PATCH('/api/webhook-routing/{id}', {
          params: { path: { id: moved.id } },
          body: { position: to },
        }),
      ),
    )
  }

  return (
    <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={onDrop}>
      <SortableContext items={rules} strategy={verticalListSortingStrategy}>
        <Rows label="rules" query={query} queryKey={routingQuery.queryKey} isOrdered empty={empty}>
          {rules.map((rule, index) => (
            <RoutingItem
              key={rule.id}
              rule={rule}
              verdict={testResult?.considered.find(({ ruleId }) => ruleId === rule.id)}
              onMove={(step) => void moveTo(index, index + step)}
              onEdit={() => onEdit(rule)}
            />
          ))}
        </Rows>
      </SortableContext>
    </DndContext>
  )
}
