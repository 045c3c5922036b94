import type { TestApp } from './app.ts'

/** Counts all that has changed until now, as the worker does. */
export async function countAll({ service }: Pick<TestApp, 'service'>): Promise<void> {
  await service.sequencer.catchUp()
  while (await service.overviewCounting.work());
}

const COUNTS = {
  opened: 'select project_id, week::text, source, count from opened_weeks where count <> 0',
  closed: 'select project_id, week::text, closer, days, count from closed_weeks where count <> 0',
  feedback: 'select project_id, week::text, version, sentiment, count from feedback_weeks where count <> 0',
  reports: 'select project_id, week::text, task_id, count from report_weeks where count <> 0',
  untriaged: 'select project_id, count from untriaged_counts where count <> 0',
} as const

type Counts = Record<keyof typeof COUNTS, string[]>

/** What the service has counted, each count as a line. */
export async function countedBy(service: TestApp): Promise<Counts> {
  const lines = Object.entries(COUNTS).map(async ([name, sql]) => [
    name,
    (await service.query(sql)).map((row) => Object.values(row).join(' ')).sort(),
  ])
  return Object.fromEntries(await Promise.all(lines)) as Counts
}

interface Task {
  id: string
  project: string
  source: string
  opened: Date
  completed: Date | null
  creator: string
  merged_into: string | null
  metadata: { properties?: { sentiment?: unknown; app_version?: unknown } }
  is_to_triage: boolean
}

/** The same, counted from the tasks and the activity log as they are. */
export async function recountedFrom(service: TestApp): Promise<Counts> {
  const tasks: Task[] = await service.query(
    `select id, project_id as project, source, opened_at as opened, completed_at as completed, created_by_type as creator,
       merged_into, metadata,
       not triaged and completed_at is null and snoozed_until is null as is_to_triage
     from tasks where deleted_at is null`,
  )
  const closings = await service.query(
    `select task_id, actor_type from activity
     where type = 'task.completed' or type = 'task.merged' and metadata ->> 'from' <> 'done' order by sequence`,
  )
  const closers = new Map(closings.map(({ task_id, actor_type }) => [task_id, actor_type]))
  const opened = tasks.map(({ project, source, opened }) => `${project} ${weekOf(opened)} ${source}`)
  const closed = tasks.flatMap(({ id, project, opened, completed, creator, merged_into }) => {
    if (completed === null) return []
    const days = Math.max(0, Math.floor((completed.getTime() - opened.getTime()) / 86_400_000))
    const closer = CLOSERS[closers.get(id) ?? creator] ?? 'other'
    return [`${project} ${weekOf(completed)} ${closer} ${merged_into ? -1 : days}`]
  })
  const feedback = tasks.flatMap(({ project, opened, metadata: { properties } }) => {
    const { sentiment, app_version } = properties ?? {}
    if (!['loved', 'meh', 'frustrated'].includes(String(sentiment)) || typeof app_version !== 'string')
      return []
    return [`${project} ${weekOf(opened)} ${app_version} ${sentiment}`]
  })
  const targets = new Set(tasks.map(({ merged_into }) => merged_into))
  const reports = tasks.flatMap(({ id, project, opened, merged_into }) => {
    const target = merged_into ?? (targets.has(id) ? id : null)
    return target ? [`${project} ${weekOf(opened)} ${target}`] : []
  })
  const untriaged = tasks.filter(({ is_to_triage }) => is_to_triage).map(({ project }) => project)
  const lines = { opened, closed, feedback, reports, untriaged }
  return Object.fromEntries(Object.entries(lines).map(([name, all]) => [name, numbered(all)])) as Counts
}

const CLOSERS: Record<string, string> = {
  user: 'people',
  session: 'people',
  assistant: 'assistants',
  codehost: 'host',
}

function weekOf(time: Date): string {
  const monday = new Date(time)
  monday.setUTCHours(0, 0, 0, 0)
  while (monday.getUTCDay() !== 1) monday.setUTCDate(monday.getUTCDate() - 1)
  return monday.toISOString().slice(0, 10)
}

/** Each line once, with how often it occurred. */
const numbered = (lines: string[]): string[] =>
  Object.entries(Object.groupBy(lines, (line) => line))
    .map(([line, same = []]) => `${line} ${same.length}`)
    .sort()
