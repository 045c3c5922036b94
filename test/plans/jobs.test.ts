import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere, type Repositories } from '../../src/repositories/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { beyond, explaining, type Limits, MAX_READ, type Work, workOf } from '../support/plans.ts'
import { freshDatabase } from '../support/postgres.ts'
import { JOB_ROWS } from './queries/job-rows.ts'

/*
 * What PostgreSQL reads for each statement of a job, and of the lists of what jobs work on, before their tables were ever
 * analyzed, and afterwards. Each job runs in a transaction that is rolled back.
 */

const TASKS = 60_000

let database: Awaited<ReturnType<typeof freshDatabase>>
let service: TestApp
let works: Work[] = []
let ids: { projectId: string; listId: string; otherListId: string; taskIds: string[] }

beforeAll(async () => {
  database = await freshDatabase()
  const { connectionString } = database
  await fillWithTasks(connectionString, { count: TASKS, isAnalyzed: false })
  await runAll(['set session_replication_role = replica', ...JOB_ROWS])
  const onNotice = (notice: string) => {
    const work = workOf(notice)
    if (work) works.push(work)
  }
  service = await startApp({ connectionString: explaining(connectionString), onNotice })
  const [list, other] = await service.query(
    `select id, project_id from lists where name in ('Project 3, list 3', 'Project 3, list 4') order by name`,
  )
  const tasks = await service.query('select id from tasks where project_id = $1 limit 100', [list.project_id])
  ids = {
    projectId: list.project_id,
    listId: list.id,
    otherListId: other.id,
    taskIds: tasks.map(({ id }) => id),
  }
}, 300_000)
afterAll(async () => {
  await service?.close()
  await database?.drop()
})

async function runAll(statements: string[]) {
  const client = new pg.Client(database)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** What a job does, and nothing of what it writes. */
async function measure(job: Job) {
  works = []
  const end = new Error('The work is measured.')
  const measured = service.repos.transaction(async (repos) => {
    await job(repos)
    throw end
  })
  await expect(measured).rejects.toBe(end)
}

const BATCH = 200
const NUMBERS = Array.from({ length: 100 }, (_, index) => index + 1)
const now = new Date()
const before = new Date(now.getTime() - 30 * 86_400_000)
const beforeId = '019a0000-0000-7000-8000-000000000000'
const everything = (repos: Repositories) => repos.within(everywhere)
const lease = { id: '00000000-0000-7000-8000-000000000000', lease: 1 }

const UNTOLD = { position: 100, historyUntil: 0 }
const UNCOUNTED = { position: 100, filledTo: beforeId, isFilled: false }

type Job = (repos: Repositories) => Promise<unknown>

const JOBS: Record<string, [Job, Limits?]> = {
  'removes old tasks': [({ cleanup }) => cleanup.purgeDeletedTasks(before, BATCH)],
  'removes old rules': [({ cleanup }) => cleanup.purgeDeletedRules(before, BATCH)],
  'removes payloads of deliveries': [({ cleanup }) => cleanup.dropPayloads(beforeId, BATCH)],
  'removes ignored deliveries': [({ cleanup }) => cleanup.deleteIgnoredDeliveries(beforeId, BATCH)],
  'removes items of sources': [({ cleanup }) => cleanup.deleteSourceItems(before, BATCH)],
  'removes finished deliveries': [({ cleanup }) => cleanup.deleteFinishedDeliveries(before, BATCH)],
  'removes counts of past hours': [(repos) => repos.pipes(undefined).deletePastHours(BATCH)],
  'removes old pauses': [(repos) => repos.pipes(undefined).deletePastPauses(BATCH), { sorted: 400 }],
  'looks for pipes that have changed': [(repos) => repos.pipes(undefined).isAnyChanged()],
  'logs pipes that have changed': [(repos) => repos.pipes(undefined).takeChanged(100), { sorted: 400 }],
  'removes unused limits': [({ cleanup }) => cleanup.deleteUnusedWriteLimits(BATCH)],
  'removes idempotency keys': [({ idempotency }) => idempotency.deleteOlderThan(before)],
  'removes idle sessions': [({ credentials }) => credentials.sessions.deleteEnded(before)],
  'looks for leases that are over': [(repos) => everything(repos).claims.hasExpired()],
  'opens tasks whose lease is over': [
    (repos) => everything(repos).claims.listExpired({ limit: 100 }),
    { sorted: 300 },
  ],
  'looks for the deletion of a list': [(repos) => everything(repos).listDeletions.claim(undefined)],
  'moves tasks of a deleted list': [
    (repos) =>
      everything(repos).tasks.moveSome({
        fromListId: ids.listId,
        toListId: ids.otherListId,
        now,
        limit: BATCH,
      }),
  ],
  'moves the trash of a deleted list': [
    (repos) =>
      everything(repos).tasks.moveDeleted({
        fromListId: ids.listId,
        toListId: ids.otherListId,
        limit: BATCH,
      }),
  ],
  'empties the trash of a deleted project': [
    (repos) => everything(repos).projectDeletions.deleteHidden(ids.projectId, BATCH),
  ],
  'sees how large the trash of a project is': [
    (repos) => everything(repos).projectDeletions.hasMoreHidden(ids.projectId, BATCH),
  ],
  'removes names of no task': [({ cleanup }) => cleanup.deleteUnusedNames(BATCH)],
  'rejects deliveries that were pending too long': [
    ({ cleanup }) => cleanup.rejectPendingDeliveries({ beforeId, errors: [] }, BATCH),
  ],
  'takes deliveries of sources': [
    (repos) => everything(repos).sourceBacklog.claim({ leaseMs: 1_000, limit: 10 }),
  ],
  'adds up counts': [({ taskCounts }) => taskCounts.aggregate(BATCH)],
  'counts tasks for the overview': [
    ({ overviewCounts }) => overviewCounts.fill(UNCOUNTED, BATCH),
    { sorted: 3 * BATCH },
  ],
  'counts changes for the overview': [
    ({ overviewCounts }) => overviewCounts.follow(UNCOUNTED, BATCH),
    { read: 10 * BATCH, sorted: 6 * BATCH },
  ],
  'reads the overview': [
    (repos) =>
      everything(repos).overview.read({ projectId: ids.projectId, from: '2026-01-05', to: '2026-03-30' }),
  ],
  'reads the overview of feedback': [
    (repos) =>
      everything(repos).overview.readFeedback({
        ...{ projectId: ids.projectId, from: '2026-01-05', to: '2026-03-30' },
        ...{ maxVersions: 30, maxProblems: 10 },
      }),
    { sorted: MAX_READ },
  ],
  'reads changes for notifications': [
    ({ notificationFeed }) => notificationFeed.list(UNTOLD, { positions: BATCH, limit: 50 }),
    { read: 8 * BATCH, sorted: 4 * BATCH },
  ],
  'reads their notes': [({ notificationFeed }) => notificationFeed.notesOf(ids.taskIds)],
  'reads their followers': [({ notificationFeed }) => notificationFeed.followersOf(ids.taskIds.slice(0, 10))],
  'reads comments for notifications': [
    ({ notificationFeed }) => notificationFeed.textsOfComments(ids.taskIds),
  ],
  'reads who was mentioned': [({ notificationFeed }) => notificationFeed.mentionsIn(ids.taskIds)],
  'looks whether anything fails': [({ notificationFeed }) => notificationFeed.readRecovered(now, now)],
  'removes notifications that were read': [({ cleanup }) => cleanup.deleteReadNotifications(before, BATCH)],
  'indexes texts': [({ taskTexts }) => taskTexts.index(BATCH)],
  'gives positions': [({ changes }) => changes.sequence(BATCH)],
  'looks for activity without a position': [({ changes }) => changes.touchWithoutPosition(undefined, BATCH)],
  'looks for webhooks that are behind': [({ webhookFanOut }) => webhookFanOut.listBehind(1_000)],
  'reads changes for webhooks': [
    ({ webhookFanOut }) => webhookFanOut.listChanges({ after: 100, to: 15_000, limit: BATCH }),
  ],
  'takes a webhook': [({ webhookQueue }) => webhookQueue.take({ without: [], leaseMs: 1_000 })],
  'reads deliveries of a webhook': [
    ({ webhookQueue }) =>
      webhookQueue.listWaiting({ id: ids.projectId, projectId: null }, { after: undefined, limit: 100 }),
  ],
  'ends deliveries without activity': [
    ({ webhookQueue }) => webhookQueue.failWithoutActivity({ ...lease, id: ids.projectId }),
  ],
  'looks for deliveries of the code host': [
    (repos) => everything(repos).pushedDeliveries.listDueConnections(10),
  ],
  'reads deliveries of the code host': [
    (repos) =>
      everything(repos).pushedDeliveries.listDue(ids.projectId, { maxItems: 100, maxBytes: 1_000_000 }),
  ],
  'looks for items that are gone': [
    (repos) => everything(repos).pushedDeliveries.listGone(ids.projectId, NUMBERS),
  ],
  'looks for deleted comments': [
    (repos) => everything(repos).pushedDeliveries.listDeletedComments(ids.projectId, NUMBERS.map(String)),
  ],
  'looks for writes that are due': [(repos) => everything(repos).codehostWrites.listDueConnections()],
  // All that are pending, to send those of a task in their order.
  'takes a write': [
    (repos) => everything(repos).codehostWrites.claim({ connectionIds: [ids.projectId], leaseMs: 1_000 }),
    { read: 4 * MAX_READ, sorted: 300 },
  ],
  'reads unwritten states': [
    (repos) => everything(repos).codehostWrites.listUnwrittenStates(ids.taskIds),
    { read: 3 * MAX_READ },
  ],
  'looks for connections to sync': [({ syncQueue }) => syncQueue.listDueForUpdate(now, 10)],
  'looks for a run to continue': [({ syncQueue }) => syncQueue.claim(now)],
  'reads the tasks of a page of items': [
    (repos) =>
      everything(repos).syncedTasks.listKnownForUpdate(ids.projectId, { repositoryId: 1, numbers: NUMBERS }),
  ],
  'reads which items are unknown': [
    (repos) =>
      everything(repos).syncedTasks.listUnknown(ids.projectId, { repositoryId: 1, numbers: NUMBERS }),
  ],
  'reads the ids of comments in order': [
    (repos) =>
      everything(repos).syncedComments.listExternalIds(ids.projectId, {
        ...{ repositoryId: 1, after: '100', until: null, except: [] },
        limit: 100,
      }),
  ],
  // All of the repository, and all that the run has seen.
  'counts what a sync did not see': [
    (repos) =>
      everything(repos).syncedTasks.countPresent(ids.projectId, { repositoryId: 1, runId: ids.projectId }),
    { read: 30 * MAX_READ },
  ],
  'looks for what a sync did not see': [
    (repos) =>
      everything(repos).syncedTasks.listVanished(ids.projectId, {
        ...{ repositoryId: 1, runId: ids.projectId },
        limit: 100,
      }),
    { read: 30 * MAX_READ, sorted: MAX_READ },
  ],
  'reads the comments of a page': [
    (repos) =>
      everything(repos).syncedComments.list(ids.projectId, {
        repositoryId: 1,
        externalIds: NUMBERS.map(String),
      }),
  ],
}

/** How many candidates a search for similar tasks compares. */
const CANDIDATES = 1_000
/** The positions that a page of changes examines. */
const MAX_POSITIONS = 10_000

const LISTS: Record<string, Limits> = {
  '/api/tasks/{commented}/comments': {},
  '/api/tasks/{task}/reports': {},
  '/api/tasks/{task}/reports?count=true': {},
  '/api/tasks/report-counts?id={task}&id={other}': {},
  '/api/tasks/{task}/similar': { read: 4 * CANDIDATES, sorted: CANDIDATES + 1 },
  // What has no position yet is sorted.
  '/api/changes?from=start': { sorted: BATCH },
  '/api/changes?from=start&include=task': {},
  '/api/changes?from=start&type=no.such': { read: MAX_POSITIONS },
  '/api/changes?from=start&projectId={project}': { read: MAX_POSITIONS },
  '/api/webhooks': {},
  '/api/webhooks/{webhook}/deliveries': {},
  '/api/webhooks/{webhook}/deliveries?outcome=delivered': {},
  '/api/webhooks/{webhook}/deliveries?outcome=failed': {},
  '/api/webhooks/{webhook}/deliveries?outcome=pending': {},
  '/api/sources': {},
  '/api/rules': {},
  '/api/webhook-routing': {},
  '/api/webhook-secrets': {},
  '/api/projects/{project}/codehost': {},
}

describe.each(['before the first analysis', 'with statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with statistics') await runAll(['vacuum analyze'])
  }, 60_000)

  test.each(Object.entries(JOBS))('a job that %s has an index', async (_, [job, limits]) => {
    await measure(job)
    expect(beyond(works, { sorted: BATCH, ...limits })).toEqual([])
  })

  test('a job that looks for outdated statistics reads the catalog', async () => {
    await measure(({ statistics }) => statistics.findOutdated())
    const [work] = works.filter(({ statement }) => statement.includes('pg_stat_user_tables'))
    expect(work?.read).toBeLessThan(4 * MAX_READ)
    expect(work?.scanned.filter((table) => !table.startsWith('pg_'))).toEqual([])
  })

  test.each(Object.entries(LISTS))('%s has an index', async (path, limits) => {
    const [{ task_id: commented }] = await service.query('select task_id from comments limit 1')
    const { projectId: project, taskIds } = ids
    const names: Record<string, string | undefined> = {
      commented,
      task: taskIds[0],
      other: taskIds[1],
      project,
      webhook: project,
    }
    works = []
    const { status } = await service.get(path.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? ''))
    expect(status).toBe(200)
    expect(beyond(works, limits)).toEqual([])
  })
})
