import type { IdentityProviderClient } from '../clients/identity-provider.ts'
import type { WebhookReceiver } from '../clients/webhook-receiver.ts'
import { keyId } from '../domain/token-seal.ts'
import type { Clock } from '../lib/clock.ts'
import type { TimeShares } from '../lib/time-shares.ts'
import { ACCESS_CHANGES } from '../repositories/access-changes.ts'
import { SYNC_PROGRESS } from '../repositories/codehost/sync-runs.ts'
import { CODEHOST_WRITES } from '../repositories/codehost/writes.ts'
import { CONFIGURATION_CHANGES } from '../repositories/configuration-changes.ts'
import { IMPORTS } from '../repositories/import/index.ts'
import { everywhere, type Repositories, type Transfers } from '../repositories/index.ts'
import { NOTIFICATION_CHANGES } from '../repositories/notifications/feed.ts'
import { WEBHOOK_CHANGES } from '../repositories/webhooks/webhooks.ts'
import type { SignInWays, SwitchedWays } from '../schemas/session.ts'
import { accessService } from './access.ts'
import { changesService } from './activity/changes.ts'
import { configurationChanges } from './activity/configuration-changes.ts'
import { activityFeed } from './activity/feed.ts'
import { activityService } from './activity/index.ts'
import { changeSequencer } from './activity/sequencer.ts'
import { singleLogOf } from './activity/single-log.ts'
import { streamService } from './activity/stream.ts'
import { claimsService } from './claims/index.ts'
import { sharedClaimsOf } from './claims/next.ts'
import { cleanupService } from './cleanup.ts'
import type { LogFailure } from './codehost/failures.ts'
import { codehostService } from './codehost/index.ts'
import { type CodehostDeps, tokenVault } from './codehost/token.ts'
import { commentsService } from './comments.ts'
import { contextService } from './context.ts'
import { deliveriesService } from './deliveries/index.ts'
import { deliveryReceiver } from './deliveries/receiver.ts'
import { exportService } from './export.ts'
import { feedbackInterpreter } from './feedback/index.ts'
import { feedbackReplay } from './feedback/replay.ts'
import { routingService } from './feedback/routing.ts'
import { idempotencyService } from './idempotency.ts'
import { importService } from './import.ts'
import { importState } from './import-state.ts'
import { keysService } from './keys.ts'
import { listsService } from './lists.ts'
import { metricsService, type PoolState } from './metrics/index.ts'
import { notificationFeed } from './notifications/feed.ts'
import { notificationsService } from './notifications/index.ts'
import { notificationNotices } from './notifications/notices.ts'
import { overviewCounting } from './overview/counting.ts'
import { overviewService } from './overview/index.ts'
import { accountService } from './people/account.ts'
import { brokenSignIns } from './people/broken-sign-ins.ts'
import { identitiesService } from './people/identities.ts'
import { identityProvidersService } from './people/identity-providers.ts'
import { inviteAcceptance } from './people/invite-acceptance.ts'
import { inviteRedemption } from './people/invite-redemption.ts'
import { invitesService } from './people/invites.ts'
import { passkeyChallenges } from './people/passkey-challenges.ts'
import { passkeySignIn } from './people/passkey-sign-in.ts'
import { passkeysService } from './people/passkeys.ts'
import { passwordSignIn } from './people/password-sign-in.ts'
import { passwordHashes } from './people/passwords.ts'
import { personOfIdentity } from './people/person-of-identity.ts'
import { personalKeysService } from './people/personal-keys.ts'
import { type EnvironmentProvider, environmentPipe, providerDirectory } from './people/provider-directory.ts'
import { providerSecrets } from './people/provider-secrets.ts'
import { providerSignIn } from './people/provider-sign-in.ts'
import { signInMethods } from './people/sign-in-methods.ts'
import { usersService } from './people/users.ts'
import { projectsService } from './projects.ts'
import { pushService } from './push/index.ts'
import { pushReplay } from './push/replay.ts'
import { reportsService } from './reports.ts'
import { adoptRestored } from './restored.ts'
import { rulesService } from './rules.ts'
import { savedFiltersService } from './saved-filters.ts'
import { sessionsService } from './sessions.ts'
import { sourceBacklogService } from './sources/backlog.ts'
import { sourcesService } from './sources/index.ts'
import { payloadReader } from './sources/reader.ts'
import { templateInterpreter } from './sources/receiving.ts'
import { sourceReplay } from './sources/replay.ts'
import { sourceSecrets } from './sources/secrets.ts'
import { sourceSenders } from './sources/senders.ts'
import { sourceTests } from './sources/testing.ts'
import { statisticsService } from './statistics.ts'
import { attemptBuffer } from './status/attempts.ts'
import { statusService } from './status/index.ts'
import { syncService } from './sync/index.ts'
import { syncProgress } from './sync/progress.ts'
import { taskCountsService } from './tasks/counts.ts'
import { csvOf } from './tasks/csv.ts'
import { tasksService } from './tasks/index.ts'
import { taskNamesService } from './tasks/names.ts'
import { newTaskBatchesOf } from './tasks/single-creation.ts'
import { singleUpdateOf } from './tasks/single-update.ts'
import { webhookSecretsService } from './webhook-secrets.ts'
import { webhookDeliveriesService } from './webhooks/deliveries.ts'
import { webhooksService } from './webhooks/index.ts'
import { webhookQueueService } from './webhooks/queue.ts'
import { webhookSigner } from './webhooks/signer.ts'
import { writeBackService } from './write-back/index.ts'
import { outboxService } from './write-back/outbox.ts'

export interface ServiceDeps {
  repos: Repositories
  /** Exports and imports, which have connections of their own. */
  transfers: Transfers
  clock: Clock
  randomBytes(size: number): Buffer
  codehost: CodehostDeps
  signIn: SwitchedWays & { maxWrongPasswords: number }
  /** Where people open the dashboard, and where identity providers return to. */
  publicUrl?: string | undefined
  identity: {
    client: IdentityProviderClient
    environment: EnvironmentProvider | undefined
  }
  /** Logs what failed in the background. */
  logFailure?: LogFailure
  /** Sends to the URLs of outgoing webhooks. */
  webhookReceiver: WebhookReceiver
  /** The state of the connection pool, for metrics. */
  pool?: () => PoolState
  isEmbedded?: boolean
  /** Whether connections with a session of their own work, if they have a URL of their own. */
  isDirectUp?: (() => boolean) | undefined
  /** How much time sources have used to render. */
  sourceShares?: TimeShares | undefined
}

export type UseCases = ReturnType<typeof useCases>
export type Services = ReturnType<typeof services>

/** The object graph on one screen. */
export function services(given: ServiceDeps) {
  const { repos, transfers, clock, randomBytes, publicUrl, pool, isEmbedded, isDirectUp } = given
  const { webhookReceiver: receiver, logFailure } = given
  const environment = environmentPipe(given.identity.environment)
  const metrics = metricsService({ repos, clock, pool, isEmbedded, isDirectUp, environment })
  const attempts = attemptBuffer()
  const { recorder: pipes } = attempts
  const codehost = { ...given.codehost, host: metrics.watchedHost(given.codehost.host) }
  const deps = { ...given, codehost, metrics }
  const vault = tokenVault({ ...codehost, randomBytes })
  const secrets = sourceSecrets({ ...codehost, randomBytes })
  const signer = webhookSigner({ ...codehost, randomBytes })
  const routing = routingService({ repos, clock })
  const reader = payloadReader({ shares: given.sourceShares })
  const { maxWrongPasswords, ...signInWays } = given.signIn
  const access = accessService({ credentials: repos.credentials, clock, ways: signInWays })
  const sequencer = changeSequencer({ changes: repos.changes, adopt: () => adoptRestored({ repos, clock }) })
  const feed = activityFeed({ changes: repos.changes, sequencer })
  const importing = importState(transfers)
  const hashes = passwordHashes({ randomBytes })
  const passwords = passwordSignIn({
    ...repos,
    hashes,
    randomBytes,
    isOn: signInWays.password,
    maxWrongPasswords,
  })
  const challenges = passkeyChallenges({ repos, randomBytes, publicUrl })
  const { identity } = given
  const clientSecrets = providerSecrets({ ...codehost, randomBytes })
  const directory = providerDirectory({ ...identity, secrets: clientSecrets })
  const methods = signInMethods({ passwords, directory, publicUrl })
  const providers = { ...identity, publicUrl, directory, pipes, secrets: clientSecrets }
  const listProviders = () => directory.listActive(repos.within(everywhere))
  const hasProviders = async () => (await listProviders()).length > 0
  const redemption = inviteRedemption({ repos, clock })
  const personOf = personOfIdentity({ repos, access, clock, randomBytes, redemption, directory, publicUrl })
  const signInAtProvider = providerSignIn({
    repos,
    randomBytes,
    personOf,
    redemption,
    importing,
    ...providers,
  })
  const outbox = outboxService({ repos, clock, vault, pipes, logFailure, ...codehost })
  const webhookQueue = webhookQueueService({ repos, clock, signer, receiver, metrics, pipes, sequencer })
  const progress = syncProgress({ repos, feed, instance: randomBytes(8).toString('hex') })
  const push = pushService({ repos, clock, vault, metrics, pipes, logFailure, ...codehost })
  const counting = overviewCounting({ repos })
  const replays = {
    feedback: feedbackReplay({ repos, clock }),
    source: sourceReplay({ repos, clock, reader }),
    codehost: pushReplay({ repos, push }),
  }
  return {
    ...useCases({
      ...deps,
      logSingle: singleLogOf({ repos, clock }),
      newTaskBatches: newTaskBatchesOf({ repos }),
      updateSingle: singleUpdateOf({ repos, clock }),
      claimShared: sharedClaimsOf({ repos, clock, metrics }),
    }),
    access,
    feed,
    sequencer,
    metrics,
    stream: streamService({ repos, feed, sequencer, access, clock }),
    changes: changesService({ repos, feed, sequencer, access }),
    receivers: {
      feedback: deliveryReceiver(feedbackInterpreter({ repos, clock })),
      template: deliveryReceiver(templateInterpreter({ repos, clock, reader })),
    },
    deliveries: deliveriesService({ repos, replays, pipes }),
    push,
    outbox,
    sources: sourcesService({ repos, clock, reader, secrets }),
    sourceSenders: sourceSenders({ repos, clock, secrets, logFailure }),
    sourceTests: sourceTests({ repos, reader, routing }),
    sourceBacklog: sourceBacklogService({ repos, clock, reader, metrics, pipes, logFailure }),
    /** To be closed with the service. */
    payloadReader: reader,
    keys: keysService({ repos, access, clock, randomBytes }),
    sessions: sessionsService({ repos, access, clock, randomBytes, ways: signInWays }),
    /** For a page at this address. */
    listSignInWays: async (origin: string): Promise<SignInWays> => ({
      ...signInWays,
      passkeys: challenges.isPossibleAt(origin),
      providers: await listProviders(),
      hasPeople: await repos.credentials.users.areAny(),
    }),
    countBrokenSignIns: brokenSignIns({ repos, directory, publicUrl }),
    passwords,
    users: usersService({ repos, access, clock, metrics }),
    invites: invitesService({ repos, clock, randomBytes, passwords, publicUrl, hasProviders }),
    acceptance: inviteAcceptance({
      repos,
      access,
      clock,
      randomBytes,
      hashes,
      passwords,
      challenges,
      redemption,
    }),
    passkeys: passkeysService({ repos, clock, challenges, methods }),
    passkeySignIn: passkeySignIn({ ...repos, challenges }),
    personalKeys: personalKeysService({ repos, access, clock, randomBytes }),
    identityProviders: identityProvidersService({ repos, clock, methods, ...providers }),
    identities: identitiesService({ repos, clock, directory, signIn: signInAtProvider, methods }),
    signInAtProvider,
    account: accountService({ repos, access, clock, hashes, passwords }),
    webhookSecrets: webhookSecretsService({ repos, access, clock, randomBytes }),
    exports: exportService({ ...transfers, clock }),
    imports: importService({ ...transfers, importing }),
    importing,
    webhooks: webhooksService({ repos, clock, signer, sequencer, receiver }),
    webhookDeliveries: webhookDeliveriesService({ repos, clock, signer, receiver, pipes }),
    webhookQueue,
    idempotency: idempotencyService({ repos, clock }),
    statistics: statisticsService({ repos, clock }),
    /** Notes how attempts to receive or send ended. */
    pipes,
    status: statusService({ repos, clock, attempts, environment }),
    taskCounts: taskCountsService({ repos }),
    overview: overviewService({ repos, clock, counting }),
    overviewCounting: counting,
    notificationFeed: notificationFeed({ repos, clock }),
    cleanup: cleanupService({ repos, clock }),
    sync: syncService({ repos, clock, progress, metrics, pipes, vault, logFailure, ...codehost }),
    /** The id of the key that encrypts. */
    keyId: codehost.encryptionKeys && keyId(codehost.encryptionKeys[0]),
    /** Handlers of notices from other instances, by channel. */
    notices: {
      [ACCESS_CHANGES]: access.forget,
      [CONFIGURATION_CHANGES]: configurationChanges({ feed }).receive,
      [NOTIFICATION_CHANGES]: notificationNotices({ feed }).receive,
      [SYNC_PROGRESS]: progress.receive,
      [CODEHOST_WRITES]: outbox.wake,
      [IMPORTS]: importing.receive,
      [WEBHOOK_CHANGES]: webhookQueue.wake,
    },
    /** The same use cases inside another transaction. */
    useCasesIn: (repos: Repositories) => useCases({ ...deps, repos }),
  }
}

type UseCaseDeps = Omit<ServiceDeps, 'transfers'> &
  Pick<Parameters<typeof tasksService>[0], 'newTaskBatches' | 'updateSingle'> &
  Pick<Parameters<typeof activityService>[0], 'logSingle'> &
  Pick<Parameters<typeof claimsService>[0], 'metrics' | 'claimShared'>

/** Services without state of their own, which can be created for any transaction. */
function useCases({
  repos,
  clock,
  randomBytes,
  codehost,
  newTaskBatches,
  updateSingle,
  logSingle,
  metrics,
  claimShared,
}: UseCaseDeps) {
  const vault = tokenVault({ ...codehost, randomBytes })
  const tasks = tasksService({ repos, clock, newTaskBatches, updateSingle })
  return {
    tasks,
    listCsv: csvOf({ repos, list: tasks.list }),
    claims: claimsService({ repos, clock, metrics, claimShared }),
    taskNames: taskNamesService({ repos }),
    savedFilters: savedFiltersService({ repos, clock }),
    comments: commentsService({ repos, clock }),
    notifications: notificationsService({ repos, clock }),
    reports: reportsService({ repos, clock }),
    projects: projectsService({ repos, clock }),
    lists: listsService({ repos, clock }),
    activity: activityService({ repos, clock, logSingle }),
    rules: rulesService({ repos, clock }),
    routing: routingService({ repos, clock }),
    context: contextService({ repos, clock }),
    codehost: codehostService({ repos, clock, vault, ...codehost }),
    writeBack: writeBackService({ repos }),
  }
}
