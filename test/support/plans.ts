/** A node of a plan in PostgreSQL's JSON format: numbers of rows are averages of its loops. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** What a statement did, by its plan. */
export interface Work {
  statement: string
  /** The tables that were read from the first row to the last, but for small ones: PostgreSQL reads these faster so. */
  scanned: string[]
  /** The rows that the largest sort was given. */
  sorted: number
  /** The rows that were read, also those that did not meet a condition. */
  read: number
  indexes: string[]
}

/** The same server, for sessions that send the plan of each statement as a notice, with the rows that it read. */
export function explaining(connectionString: string, settings: Record<string, string> = {}): string {
  const url = new URL(connectionString)
  const all = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    ...settings,
  }
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
  url.searchParams.set('options', options.join(' '))
  return url.href
}

/** Reads such a notice; undefined for others. */
export function workOf(notice: string): Work | undefined {
  const start = notice.indexOf('{')
  if (!notice.includes('plan:') || start < 0) return undefined
  const { 'Query Text': statement, Plan: plan } = JSON.parse(notice.slice(start))
  const nodes = allNodes(plan)
  return {
    statement,
    scanned: nodes
      .filter(
        (node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) > SMALL_TABLE * node['Actual Loops'],
      )
      .map((node) => node['Relation Name'] ?? ''),
    sorted: Math.max(0, ...nodes.filter((node) => SORTS.has(node['Node Type'])).map(inputOf)),
    read: sum(nodes.filter((node) => node['Node Type'].includes('Scan')).map(rowsRead)),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
  }
}

/** A sort may have a page, and the row that tells whether another follows. */
export const PAGE = 51
/** An index scan may skip as many rows, such as those of archived projects; some tables are no larger. */
export const MAX_READ = 1_000

export interface Limits {
  read?: number
  sorted?: number
}

/** One line for each statement that reads more. */
export function beyond(done: Work[], { read = MAX_READ, sorted = PAGE }: Limits = {}): string[] {
  if (done.length === 0) throw new Error('There is no plan.')
  return done
    .filter((work) => work.scanned.length > 0 || work.read > read || work.sorted > sorted)
    .map(
      (work) =>
        `reads ${work.read}, sorts ${work.sorted}, scans ${work.scanned} by ${work.indexes}: ${work.statement}`,
    )
}

const SMALL_TABLE = 500
const SORTS = new Set(['Sort', 'Incremental Sort'])

const allNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(allNodes)]

const inputOf = ({ Plans: inputs = [] }: PlanNode) =>
  sum(inputs.map((node) => node['Actual Rows'] * node['Actual Loops']))

/** Without rows that come from the plan itself, such as those of a `with`. */
const rowsRead = (node: PlanNode) =>
  node['Relation Name'] === undefined
    ? 0
    : node['Actual Loops'] *
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0))

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
