import { taskCsv } from '../../domain/task-csv.ts'
import { BYTE_ORDER_MARK } from '../../lib/csv.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { TaskListItem } from '../../schemas/task.ts'
import type { TaskQuery } from '../../schemas/task-query.ts'
import type { Caller } from '../access.ts'
import { itemsOf, type PageJson } from '../page.ts'

/** As many as a page has at most: the statements of its sorts are prepared. */
const PAGE_SIZE = 200

interface CsvDeps {
  repos: Repositories
  list(caller: Caller, query: TaskQuery): Promise<PageJson>
}

/**
 * Returns a function that lists all tasks that match a query as CSV, page by page. Resolves once the first page is read.
 * @throws project_not_found, list_not_found
 */
export function csvOf({ repos, list }: CsvDeps) {
  return async function listCsv(caller: Caller, query: TaskQuery): Promise<AsyncGenerator<string>> {
    const { cursor: _, count: __, ...rest } = query
    const pageAfter = (cursor?: string) =>
      list(caller, { ...rest, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) })
    const csv = taskCsv({ isSummary: query.fields === 'summary' })
    const names = namesOf(caller)
    return linesFrom(await pageAfter())

    async function* linesFrom(first: PageJson): AsyncGenerator<string> {
      yield BYTE_ORDER_MARK + csv.header
      for (let page = first; ; ) {
        const tasks = itemsOf<TaskListItem>(page)
        const known = await names(tasks)
        yield tasks.map((task) => csv.line(task, known)).join('')
        if (page.nextCursor === null) return
        page = await pageAfter(page.nextCursor)
      }
    }
  }

  /** Reads each name once. */
  function namesOf(caller: Caller) {
    const { lists, projects } = repos.within(caller)
    const known = { lists: new Map<string, string>(), projects: new Map<string, string>() }
    return async (tasks: Pick<TaskListItem, 'listId' | 'projectId'>[]) => {
      const listIds = unknownIn(
        known.lists,
        tasks.map(({ listId }) => listId),
      )
      const projectIds = unknownIn(
        known.projects,
        tasks.map(({ projectId }) => projectId),
      )
      if (listIds.length > 0)
        for (const [id, name] of await lists.listNames(listIds)) known.lists.set(id, name)
      if (projectIds.length > 0) {
        for (const [id, name] of await projects.listNames(projectIds)) known.projects.set(id, name)
      }
      return known
    }
  }
}

const unknownIn = (known: ReadonlyMap<string, string>, ids: string[]) => [
  ...new Set(ids.filter((id) => !known.has(id))),
]
