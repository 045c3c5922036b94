import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { projectsQuery, type Rule, rulesQuery } from '../api/queries.ts'
import { CurlExample } from '../components/curl-example.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import { useMe } from '../session/session.ts'
import { ContextPreview } from './context-preview.tsx'
import { PageHeader } from './page-header.tsx'
import { Rows } from './rows.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { RuleHistory } from './rule-history.tsx'
import { RuleItem } from './rule-item.tsx'
import styles from './settings.module.css'

/** The rules for assistants, in the order of the context. */
export default function InstructionsPage() {
  const { me, can } = useMe()
  const [chosenProjectId, chooseProject] = useParameter('project')
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: can('tasks:read') })
  const projectId = me?.projectId ?? projects.find(({ id }) => id === chosenProjectId)?.id
  const query = useQuery({ ...rulesQuery(projectId), enabled: can('rules:read') })
  const editor = useOpened('rule')
  const history = useOpened('history')
  const mayWrite = can('rules:write')
  // A key bound to a project can read global rules but not change them.
  const mayChange = (rule: Rule) => mayWrite && (me?.projectIds === null || rule.projectId !== null)
  const ruleOf = (id: string | undefined) => query.data?.find((rule) => rule.id === id)
  const edited = ruleOf(editor.opened)
  const withHistory = ruleOf(history.opened)
  const add = mayWrite && <Button onClick={() => editor.open('new')}>Add instruction</Button>

  if (!can('rules:read')) {
    return (
      <PageHeader title="AI instructions">
        Your key does not have the scope <code>rules:read</code>.
      </PageHeader>
    )
  }
  return (
    <>
      <PageHeader title="AI instructions" action={query.data?.length !== 0 && add}>
        Instructions that AI assistants follow. An assistant receives the active ones at the start of each
        session, highest priority first.
      </PageHeader>
      {can('tasks:read') && me?.projectIds === null && (
        <Select
          aria-label="Project"
          placeholder="All projects"
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          value={projectId ?? null}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear project' }}
          onChange={(value) => chooseProject(value ?? undefined)}
          maw={320}
        />
      )}
      <div className={styles.halves}>
        <section className={styles.section} aria-label="Instructions">
          {query.data && query.data.length > 0 && (
            <>
              <h2>Instructions</h2>
              <p className="quiet small">Priority</p>
            </>
          )}
          <Rows
            label="instructions"
            query={query}
            queryKey={rulesQuery(projectId).queryKey}
            isOrdered
            empty={
              <EmptyState
                title="No instructions yet"
                description="Add what every assistant should know and do."
                action={add}
              >
                <CurlExample
                  path="/api/rules"
                  body={{ content: 'Run the tests before reporting that something works.' }}
                />
              </EmptyState>
            }
          >
            {(query.data ?? []).map((rule) => (
              <RuleItem
                key={rule.id}
                rule={rule}
                mayWrite={mayChange(rule)}
                onEdit={() => editor.open(rule.id)}
                onHistory={() => history.open(rule.id)}
              />
            ))}
          </Rows>
        </section>
        <ContextPreview projectId={projectId} />
      </div>
      {(edited ? mayChange(edited) : mayWrite && editor.opened === 'new') && (
        <RuleDialog key={editor.opened} rule={edited} projectId={projectId} onClose={editor.close} />
      )}
      {withHistory && (
        <RuleHistory rule={withHistory} mayWrite={mayChange(withHistory)} onClose={history.close} />
      )}
    </>
  )
}
