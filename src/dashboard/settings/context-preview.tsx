import { Select, Skeleton } from '@mantine/core'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { contextQuery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { CurlExample } from '../components/curl-example.tsx'
import { LoadError } from '../components/load-error.tsx'
import { ProgressBar } from '../components/progress-bar.tsx'
import { plural } from '../lib/plural.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import styles from './settings.module.css'

/** As the API counts them: the real number depends on the model. */
const BYTES_OF_TOKEN = 4
/** In tokens. The first is what the output of a hook can have in Claude Code. */
const BUDGETS = [2_500, 4_000, 8_000, 16_000]

/** What assistants get, and how much of a budget it takes. */
export function ContextPreview({ projectId }: { projectId: string | undefined }) {
  const query = useQuery(contextQuery(projectId))
  const [chosen, choose] = useParameter('budget')
  const budget = BUDGETS.find((tokens) => String(tokens) === chosen) ?? BUDGETS[0]
  const tokens = query.data && Math.ceil(new Blob([query.data]).size / BYTES_OF_TOKEN)
  const within = `${projectId ? `&projectId=${projectId}` : ''}&budgetTokens=${budget}`
  return (
    <section className={styles.section} aria-label="Assistant preview">
      <h2>Assistant preview</h2>
      <p className="quiet small">
        The current response of <code>get_context</code>
        {tokens && `: about ${plural(tokens, 'token')}, at four bytes each`}.
      </p>
      <Select
        label="Budget"
        data={BUDGETS.map((each) => ({ value: String(each), label: plural(each, 'token') }))}
        value={String(budget)}
        allowDeselect={false}
        onChange={(value) => choose(value === String(BUDGETS[0]) ? undefined : (value ?? undefined))}
        maw={200}
      />
      {tokens && budget && <BudgetUse tokens={tokens} budget={budget} projectId={projectId} />}
      {query.isPending && <Skeleton height={240} />}
      {query.isError && <LoadError what="the preview" query={query} />}
      {query.data && (
        <div className={styles.context}>
          <CopyBlock text={query.data} />
        </div>
      )}
      <CurlExample
        path={`/api/context?format=markdown${within}`}
        caption="For a hook that runs at session start:"
      />
    </section>
  )
}

interface BudgetUseProps {
  /** What all of it takes. */
  tokens: number
  /** In tokens. */
  budget: number
  projectId: string | undefined
}

function BudgetUse({ tokens, budget, projectId }: BudgetUseProps) {
  const isOver = tokens > budget
  const { data: omittedCount } = useQuery({ ...omittedQuery({ budget, projectId }), enabled: isOver })
  const percent = Math.round((tokens / budget) * 100)
  return (
    <div className="stack" style={{ gap: 6 }}>
      <ProgressBar label="Use of the budget" fraction={Math.min(1, tokens / budget)} isRunning={!isOver} />
      <span className="small">
        {percent.toLocaleString()} % of {plural(budget, 'token')}. {!isOver && 'Everything fits.'}
        {isOver &&
          omittedCount !== undefined &&
          `With this budget, ${plural(omittedCount, 'item')} would be omitted: tasks first, then lists, then instructions of low priority.`}
      </span>
    </div>
  )
}

const omittedQuery = ({ budget, projectId }: Omit<BudgetUseProps, 'tokens'>) =>
  queryOptions({
    queryKey: ['context', projectId ?? null, budget],
    queryFn: async () => {
      const context = await dataOf(
        api.GET('/api/context', {
          params: { query: { format: 'json', budgetTokens: budget, ...(projectId && { projectId }) } },
        }),
      )
      // Cast: it is text only in the other formats.
      return (context as Schema<'Context'>).omittedCount
    },
    placeholderData: keepPreviousData,
  })
