import type { Database } from '../db/pool.ts'
import { activityRepository } from './activity.ts'
import { changesRepository } from './changes.ts'
import { claimsRepository } from './claims.ts'
import { cleanupRepository } from './cleanup.ts'
import { codehostRepository } from './codehost/connections.ts'
import { codehostLabelsRepository } from './codehost/labels.ts'
import { syncQueue, syncRunsRepository } from './codehost/sync-runs.ts'
import { syncedCommentsRepository } from './codehost/synced-comments.ts'
import { syncedTasksRepository } from './codehost/synced-tasks.ts'
import { codehostWriteLimitsRepository } from './codehost/write-limits.ts'
import { codehostWritesRepository } from './codehost/writes.ts'
import { commentsRepository } from './comments.ts'
import { configurationChanges } from './configuration-changes.ts'
import { contextRepository } from './context.ts'
import { deletionTurn, listDeletionsRepository, projectDeletionsRepository } from './deletions.ts'
import { feedbackRepository } from './deliveries/feedback.ts'
import { pushedDeliveriesRepository } from './deliveries/pushed.ts'
import { deliveriesRepository } from './deliveries/store.ts'
import { exportRepository } from './export/index.ts'
import { feedbackGroupsRepository } from './feedback/groups.ts'
import { routingRepository } from './feedback/routing.ts'
import { idempotencyRepository } from './idempotency.ts'
import { importRepository } from './import/index.ts'
import { instancesRepository } from './instances.ts'
import { keyCredentials, keysRepository } from './keys.ts'
import { leasesRepository } from './leases.ts'
import { listsRepository } from './lists.ts'
import { newTasks } from './new-tasks.ts'
import { notificationFeedRepository } from './notifications/feed.ts'
import { notificationsRepository } from './notifications/index.ts'
import { overviewCountsRepository } from './overview/counting.ts'
import { overviewRepository } from './overview/reading.ts'
import { identitiesRepository } from './people/identities.ts'
import { identityProvidersRepository } from './people/identity-providers.ts'
import { invitesRepository } from './people/invites.ts'
import { passkeyCredentials, passkeysRepository } from './people/passkeys.ts'
import { signInAttemptsRepository } from './people/sign-in-attempts.ts'
import { userCredentials, usersRepository } from './people/users.ts'
import { type EnvironmentPipe, pipesRepository } from './pipes/index.ts'
import { postedActivities } from './posted-activities.ts'
import { projectsRepository } from './projects.ts'
import { everywhere, type Reach } from './reach.ts'
import { rulesRepository } from './rules.ts'
import { savedFiltersRepository } from './saved-filters.ts'
import { sessionCredentials, sessionsRepository } from './sessions.ts'
import { similarTasksRepository } from './similar-tasks.ts'
import { sourceBacklogRepository } from './sources/backlog.ts'
import { sourceItemsRepository } from './sources/items.ts'
import { sourcesRepository } from './sources/sources.ts'
import { sourceTasksRepository } from './sources/tasks.ts'
import { statisticsRepository } from './statistics.ts'
import { statsRepository } from './stats.ts'
import { taskChanges } from './task-changes.ts'
import { taskCountsRepository } from './task-counts.ts'
import { taskDependenciesRepository } from './task-dependencies.ts'
import { taskNamesRepository } from './task-names.ts'
import { taskTextsRepository } from './task-texts.ts'
import { type Reading, tasksRepository } from './tasks.ts'
import { webhookSecretsRepository } from './webhook-secrets.ts'
import { webhookDeliveriesRepository } from './webhooks/deliveries.ts'
import { webhookFanOutRepository } from './webhooks/fan-out.ts'
import { webhookQueueRepository } from './webhooks/queue.ts'
import { webhooksRepository } from './webhooks/webhooks.ts'

export { everywhere, inProject, onlyProjectOf, type Reach, reaches } from './reach.ts'
export { taskCache } from './task-cache.ts'

/** The pool, or a transaction on it. */
export type Executor = Pick<
  Database,
  'select' | 'selectDistinctOn' | 'insert' | 'update' | 'delete' | 'execute'
>

type Transactional = Executor & Pick<Database, 'transaction'>

export type Repositories = ReturnType<typeof unreached> & {
  /** Runs all work atomically, including nested transactions of use cases. */
  transaction<T>(work: (repos: Repositories) => Promise<T>): Promise<T>
}
export type BoundRepositories = ReturnType<typeof bound>
export type Transfers = ReturnType<typeof transfersOn>

/** All queries, on a pool or in a transaction. */
export function repositories(db: Transactional, reading: Reading = {}): Repositories {
  const { search } = reading
  return {
    ...unreached(db, reading),
    transaction: (work) => db.transaction((tx) => work(repositories(tx, { search }))),
  }
}

/** Exports and imports of all data, each on a connection of its own. */
export const transfersOn = (db: Executor & Pick<Database, 'openSession'>) => ({
  exports: exportRepository(db),
  imports: importRepository(db),
})

function unreached(db: Transactional, reading: Reading) {
  const { search } = reading
  const reaching = (reach: Reach) => ({
    ...bound(db, { reach, ...reading }),
    /** One transaction per use case; the repositories passed to it are bound to it. */
    transaction: <T>(work: (repos: BoundRepositories) => Promise<T>): Promise<T> =>
      db.transaction((tx) => work(bound(tx, { reach, search }))),
  })
  /** Most requests: made once. */
  let all: ReturnType<typeof reaching> | undefined

  return {
    async ping(): Promise<void> {
      await db.execute('select from projects limit 1')
    },
    /** Outside any reach: they authenticate callers. */
    credentials: {
      keys: keyCredentials(db),
      sessions: sessionCredentials(db),
      users: userCredentials(db),
      passkeys: passkeyCredentials(db),
      webhookSecrets: webhookSecretsRepository(db),
    },
    /** Outside any reach: one reader for all streams. */
    changes: changesRepository(db),
    idempotency: idempotencyRepository(db),
    instances: instancesRepository(db),
    leases: leasesRepository(db),
    cleanup: cleanupRepository(db),
    taskCounts: taskCountsRepository(db),
    overviewCounts: overviewCountsRepository(db),
    notificationFeed: notificationFeedRepository(db),
    taskTexts: taskTextsRepository(db),
    syncQueue: syncQueue(db),
    webhookFanOut: webhookFanOutRepository(db),
    webhookQueue: webhookQueueRepository(db),
    pipes: (environment: EnvironmentPipe | undefined) => pipesRepository(db, environment),
    stats: statsRepository(db),
    statistics: statisticsRepository(db),
    within(reach: Reach) {
      if (reach.projectIds !== null) return reaching(reach)
      all ??= reaching(everywhere)
      return all
    },
  }
}

function bound(db: Executor, { reach, ...reading }: Reading & { reach: Reach }) {
  return {
    tasks: tasksRepository(db, { reach, ...reading }),
    newTasks: newTasks(db),
    taskChanges: taskChanges(db),
    taskDependencies: taskDependenciesRepository(db, reach),
    claims: claimsRepository(db, reach),
    taskNames: taskNamesRepository(db, reach),
    notifications: notificationsRepository(db, reach),
    overview: overviewRepository(db, reach),
    savedFilters: savedFiltersRepository(db),
    similarTasks: similarTasksRepository(db),
    comments: commentsRepository(db, reach),
    lists: listsRepository(db, reach),
    deletionTurn: deletionTurn(db),
    listDeletions: listDeletionsRepository(db, reach),
    projects: projectsRepository(db, reach),
    projectDeletions: projectDeletionsRepository(db),
    rules: rulesRepository(db, reach),
    context: contextRepository(db, reach),
    configurationChanges: configurationChanges(db),
    activity: activityRepository(db, reach),
    postedActivities: postedActivities(db),
    keys: keysRepository(db, reach),
    sessions: sessionsRepository(db, reach),
    users: usersRepository(db, reach),
    invites: invitesRepository(db),
    passkeys: passkeysRepository(db),
    signInAttempts: signInAttemptsRepository(db),
    identityProviders: identityProvidersRepository(db),
    identities: identitiesRepository(db),
    webhookSecrets: webhookSecretsRepository(db),
    routing: routingRepository(db),
    feedback: feedbackRepository(db),
    feedbackGroups: feedbackGroupsRepository(db),
    codehost: codehostRepository(db, reach),
    codehostLabels: codehostLabelsRepository(db),
    codehostWrites: codehostWritesRepository(db),
    codehostWriteLimits: codehostWriteLimitsRepository(db),
    deliveries: deliveriesRepository(db, reach),
    pushedDeliveries: pushedDeliveriesRepository(db),
    sources: sourcesRepository(db, reach),
    sourceTasks: sourceTasksRepository(db),
    sourceItems: sourceItemsRepository(db),
    sourceBacklog: sourceBacklogRepository(db),
    webhooks: webhooksRepository(db, reach),
    webhookDeliveries: webhookDeliveriesRepository(db, reach),
    syncRuns: syncRunsRepository(db, reach),
    syncedComments: syncedCommentsRepository(db, reach),
    syncedTasks: syncedTasksRepository(db, reach),
  }
}
