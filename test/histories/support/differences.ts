import { isDeepStrictEqual } from 'node:util'
import { commentOf, hostColumns } from '../../../src/domain/codehost/comment.ts'
import type { CodehostItem } from '../../../src/domain/codehost/item.ts'
import { postedIdIn, postedText } from '../../../src/domain/codehost/posted-comment.ts'
import { importItem } from '../../../src/domain/codehost/task.ts'
import { statusToWrite } from '../../../src/domain/codehost/write-back.ts'
import { commentJson } from '../../support/code-host-comments.ts'
import { written } from '../../support/code-host-items.ts'
import type { peopleThere } from './changes-there.ts'
import { type ConnectedProject, itemsThere, type Repository, type World } from './world.ts'

interface Compared {
  repository: Repository
  project: ConnectedProject
  people: ReturnType<typeof peopleThere>
  isSyncedAtEnd: boolean
}

/** A row as the database has it. */
// biome-ignore lint/suspicious/noExplicitAny: its columns are compared one by one.
type Row = Record<string, any>

/** What a task has of its item alone, and the columns. */
const COLUMNS = {
  title: 'title',
  description: 'description',
  externalUrl: 'external_url',
  labels: 'labels',
  assignees: 'assignees',
  codehostKind: 'codehost_kind',
  codehostState: 'codehost_state',
  authorName: 'author_name',
  authorUrl: 'author_url',
  isDraft: 'is_draft',
  openedAt: 'opened_at',
  sourceState: 'source_state',
} as const

/** How a project differs from the code host in what the code host owns: one line for each difference. */
export async function differencesOf(
  { host, query }: World,
  { repository, project, people, isSyncedAtEnd }: Compared,
): Promise<string[]> {
  const found: string[] = []
  const { unwritten } = project
  const about = { api: host.url, repository: repository.about }
  const rows: Row[] = await query('select * from tasks where project_id = $1', [project.id])
  const tasks = new Map(rows.map((task) => [task.codehost_number, task]))
  const comments: Row[] = await query(
    'select comments.* from comments join tasks on tasks.id = task_id where project_id = $1',
    [project.id],
  )
  for (const item of itemsThere(host, repository)) compareItem(item, tasks.get(item.number))
  for (const { number, gone } of repository.items.values()) {
    const task = tasks.get(number)
    // Of a task that was deleted here, the host is asked no more.
    if (gone && task && !task.deleted_at) expectThat(`${number} is gone`, task.source_state !== 'present')
  }
  return found

  function expectThat(what: string, isSo: boolean): void {
    if (!isSo) found.push(`not so: ${what}`)
  }

  function expectEqual(what: string, actual: unknown, expected: unknown): void {
    if (isDeepStrictEqual(actual, expected)) return
    found.push(`${what} is ${JSON.stringify(actual)}, and ${JSON.stringify(expected)} at the code host`)
  }

  function compareItem(item: CodehostItem, task: Row | undefined): void {
    const { number } = item
    if (!task) return void found.push(`${number} has no task`)
    const { row: expected } = importItem(item, FIRST_IMPORT)
    for (const [name, column] of Object.entries(COLUMNS)) {
      expectEqual(`${column} of ${number}`, task[column], expected?.[name as keyof typeof COLUMNS])
    }
    // A comment changes that of its item, too, which only a sync sees.
    if (isSyncedAtEnd)
      expectEqual(`host_updated_at of ${number}`, task.host_updated_at, expected?.hostUpdatedAt)
    compareState(item, task)
    compareComments(number, task)
  }

  function compareState({ number, state, kind, closedReason, closedAt }: CodehostItem, task: Row): void {
    const isMerged = task.merged_into !== null
    const isUnwritten = unwritten.tasks.has(task.id)
    // Dropped: what was changed there meanwhile counts.
    const isEnded = [undefined, 'done', 'dropped'].includes(task.write_back?.state)
    expectThat(`the writes of ${number} have ended`, isEnded)
    // It stays as it is here, but what is closed there is done after a full run.
    if (isUnwritten && (state === 'open' || !isSyncedAtEnd)) return
    const status = statusToWrite({
      status: task.status,
      mergedInto: task.merged_into,
      statusBeforeMerge: task.status_before_merge,
    })
    // That of a pull request is not written: it can be done here while it is open there.
    if (state === 'closed' || kind === 'issue') {
      expectEqual(`status of ${number}`, status === 'done' ? 'closed' : 'open', state)
      if (!isMerged) expectEqual(`completed_at of ${number}`, task.completed_at, closedAt)
    }
    expectEqual(`closed_reason of ${number}`, task.closed_reason, closedReason)
  }

  function compareComments(number: number, task: Row): void {
    const here = comments.filter(({ task_id }) => task_id === task.id)
    expectEqual(`comment_count of ${number}`, task.comment_count, here.length)
    const there = [...repository.comments.values()].filter((comment) => comment.number === number)
    const posted = there.flatMap(({ body }) => postedIdIn(String(body)) ?? [])
    expectEqual(`comments of ${number} that were posted once`, posted.length, new Set(posted).size)
    for (const hostComment of there) {
      const { id } = hostComment
      const postedId = postedIdIn(String(hostComment.body)) ?? ''
      if (unwritten.comments.has(postedId)) {
        // It is known by its id, whether or not its write was given up.
        const isLinked = here.some((row) => row.id === postedId && row.external_id === String(id))
        const isHere = here.some((row) => row.id === postedId)
        expectThat(`comment ${id} of ${number} is known`, isLinked || !isHere || !isSyncedAtEnd)
        continue
      }
      const [row, ...others] = here.filter(({ external_id }) => external_id === String(id))
      const comment = commentOf(JSON.parse(written(commentJson(hostComment, about))))
      if (!row || !comment) {
        found.push(`comment ${id} of ${number} is missing: ${hostComment.body}`)
        continue
      }
      expectEqual(`copies of comment ${id}`, others.length, 0)
      const isOurs = row.author_type !== 'codehost'
      expectEqual(`comment ${id} of ${number} is ours`, isOurs, hostComment.author === project.login)
      if (!isOurs) {
        const { body, authorName, authorUrl, externalUrl, hostUpdatedAt } = hostColumns(comment)
        expectEqual(
          `comment ${id} of ${number}`,
          [row.body, row.author_name, row.author_url, row.external_url, row.host_updated_at, row.created_at],
          [body, authorName, authorUrl, externalUrl, hostUpdatedAt, comment.createdAt],
        )
      } else if (!people.touched.has(id)) {
        const { id, body, author_name: authorName } = row
        expectEqual(`comment ${id} of ${number}`, postedText({ id, body, authorName }), hostComment.body)
      }
    }
    for (const { id, author_type, is_public, external_id, body } of here) {
      const isThere = there.some((comment) => String(comment.id) === external_id)
      const isTouched = external_id !== null && people.touched.has(BigInt(external_id))
      const isOurs = author_type !== 'codehost'
      const mayBeMissing = isOurs && (!is_public || isTouched || unwritten.comments.has(id))
      expectThat(`comment ${id} of ${number} is there: ${body}`, isThere || mayBeMissing)
    }
  }
}

const FIRST_IMPORT: Parameters<typeof importItem>[1] = {
  id: '',
  now: new Date(0),
  destination: { listId: '', projectId: '', isTriageOn: true },
  actor: { type: 'codehost', id: null, name: '' },
  repositoryId: 0,
  predatesConnection: true,
}
