import { api, dataOf, type Schema } from '../../api/client.ts'

type ReportCounts = Schema<'ReportCounts'>

/** Of one request. */
const MAX_IDS = 100

/** Rows that are shown together ask within this time. */
const COLLECT_MS = 100

interface Request {
  ids: Set<string>
  counts: Promise<Map<string, ReportCounts>>
}

let collecting: Request | undefined
let previous: Promise<unknown> = Promise.resolve()

/** What a task and its reports have in common: one request for all that ask in the same moment. */
export async function countsOfTask(id: string): Promise<ReportCounts | undefined> {
  if (!collecting || collecting.ids.size >= MAX_IDS) collecting = nextRequest()
  const { ids, counts } = collecting
  ids.add(id)
  return (await counts).get(id)
}

/** The database reads much for each: they are sent one after another. */
function nextRequest(): Request {
  const ids = new Set<string>()
  const counts = Promise.all([previous, new Promise((resolve) => setTimeout(resolve, COLLECT_MS))]).then(
    async () => {
      if (collecting?.ids === ids) collecting = undefined
      const { tasks } = await dataOf(
        api.GET('/api/tasks/report-counts', { params: { query: { id: [...ids] } } }),
      )
      return new Map(tasks.map(({ id, ...counts }) => [id, counts]))
    },
  )
  previous = counts.catch(() => {})
  return { ids, counts }
}
