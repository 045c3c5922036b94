import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type {
  ClaimOutcome,
  DeliveryOutcome,
  PushOutcome,
  SignInOutcome,
  SignInWay,
  SourceOutcome,
  SyncOutcome,
  WebhookOutcome,
} from '../recorder.ts'

export type MetricDefinitions = ReturnType<typeof metricDefinitions>

/** In seconds. The receiver responds within a tenth of a second, a sync may take an hour. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const JOB_BUCKETS = [0.01, 0.1, 1, 10, 60, 300, 1_800, 3_600]

/** Alerts use the increase of a counter: one that is created by its first failure shows no increase. */
const SYNC_OUTCOMES: Record<SyncOutcome, 0> = { completed: 0, failed: 0, rate_limited: 0 }
const DELIVERY_OUTCOMES: Record<DeliveryOutcome, 0> = {
  created: 0,
  duplicate: 0,
  ignored: 0,
  rejected: 0,
  unreadable: 0,
  refused: 0,
  unavailable: 0,
  failed: 0,
}

const PUSH_OUTCOMES: Record<PushOutcome, 0> = {
  received: 0,
  duplicate: 0,
  applied: 0,
  dropped: 0,
  failed: 0,
  refused: 0,
  unavailable: 0,
}
const SOURCE_OUTCOMES: Record<SourceOutcome, 0> = { ...DELIVERY_OUTCOMES, updated: 0, pending: 0 }
const CLAIM_OUTCOMES: Record<ClaimOutcome, 0> = { made: 0, renewed: 0, released: 0, expired: 0 }
const SIGN_IN_WAYS: Record<SignInWay, 0> = { password: 0, passkey: 0, provider: 0, key: 0 }
const SIGN_IN_OUTCOMES: Record<SignInOutcome, 0> = { succeeded: 0, refused: 0, failed: 0 }
const WEBHOOK_OUTCOMES: Record<WebhookOutcome, 0> = { delivered: 0, failed: 0 }

/** All metrics. Label values come from fixed lists, never from a request. */
export function metricDefinitions({ isEmbedded }: { isEmbedded: boolean }) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <L extends string>(metric: Metric<L>) => new Counter({ ...metric, registers })
  const counterOf = (outcomes: Record<string, 0>, { name, help }: Metric<never>) => {
    const metric = counter({ name, help, labelNames: ['outcome'] })
    for (const [outcome, zero] of Object.entries(outcomes)) metric.inc({ outcome }, zero)
    return metric
  }
  const gauge = <L extends string>(metric: Metric<L>) => new Gauge({ ...metric, registers })
  const seconds = <L extends string>(metric: Metric<L> & { buckets: number[] }) =>
    new Histogram({ ...metric, registers })

  return {
    registry,
    build: gauge({
      name: 'inlet_build_info',
      help: 'Always 1. The labels have the versions of Inlet and Node.js.',
      labelNames: ['version', 'node'],
    }),
    requests: seconds({
      name: 'inlet_http_request_duration_seconds',
      help: 'Duration of HTTP requests, by route pattern and status class.',
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_BUCKETS,
    }),
    errors: counter({
      name: 'inlet_errors_total',
      help: 'Requests and calls of AI tools that this instance refused, or that failed, by error code.',
      labelNames: ['code'],
    }),
    streams: gauge({
      name: 'inlet_stream_clients',
      help: 'Clients connected to GET /api/stream on this instance.',
    }),
    signIns: signInsOf(
      counter({
        name: 'inlet_sign_ins_total',
        help: 'Sign-ins to the dashboard on this instance, by the way and their outcome.',
        labelNames: ['way', 'outcome'],
      }),
    ),
    databaseUp: gauge({
      name: 'inlet_database_up',
      help: '1 if the database responded within 2 s, otherwise 0. By url, if DATABASE_DIRECT_URL is set.',
      labelNames: ['url'],
    }),
    databaseRestarts: counter({
      name: 'inlet_database_restarts_total',
      help: 'Restarts of the database that this instance detected.',
    }),
    ...(isEmbedded && {
      embeddedUp: gauge({
        name: 'inlet_embedded_server_up',
        help: '1 if the embedded PostgreSQL responded within 2 s, otherwise 0.',
      }),
      embeddedRestarts: counter({
        name: 'inlet_embedded_server_restarts_total',
        help: 'Restarts of the embedded PostgreSQL that this instance detected.',
      }),
    }),
    poolConnections: gauge({
      name: 'inlet_pool_connections',
      help: 'Database connections of this instance.',
      labelNames: ['state'],
    }),
    poolMax: gauge({
      name: 'inlet_pool_connections_max',
      help: 'Maximum of database connections, from DATABASE_POOL.',
    }),
    poolWaiting: gauge({ name: 'inlet_pool_waiting', help: 'Queries waiting for a connection.' }),
    jobs: gauge({
      name: 'inlet_jobs',
      help: 'Background jobs of all instances, by queue and state.',
      labelNames: ['queue', 'state'],
    }),
    jobSeconds: seconds({
      name: 'inlet_job_duration_seconds',
      help: 'Duration of background jobs on this instance.',
      labelNames: ['queue', 'outcome'],
      buckets: JOB_BUCKETS,
    }),
    syncRuns: counterOf(SYNC_OUTCOMES, {
      name: 'inlet_sync_runs_total',
      help: 'Sync runs that ended or were postponed on this instance.',
    }),
    syncItems: counter({
      name: 'inlet_sync_entries_total',
      help: 'Issues and pull requests of sync runs that ended on this instance, by outcome.',
      labelNames: ['outcome'],
    }),
    hostRequests: counter({
      name: 'inlet_codehost_requests_total',
      help: 'Requests to code hosts.',
      labelNames: ['host', 'outcome'],
    }),
    hostRemaining: gauge({
      name: 'inlet_codehost_rate_limit_remaining',
      help: 'Requests left in the rate limit of the code host, from its last response.',
      labelNames: ['host'],
    }),
    pushes: counterOf(PUSH_OUTCOMES, {
      name: 'inlet_codehost_deliveries_total',
      help: 'Deliveries of code hosts to this instance, and those that it applied.',
    }),
    oldestPush: gauge({
      name: 'inlet_codehost_oldest_delivery_seconds',
      help: 'How long the oldest delivery of a code host has waited to be applied, on all instances; 0 if none waits.',
    }),
    deliveries: counterOf(DELIVERY_OUTCOMES, {
      name: 'inlet_receiver_deliveries_total',
      help: 'Deliveries to the feedback receiver of this instance.',
    }),
    sourceDeliveries: counterOf(SOURCE_OUTCOMES, {
      name: 'inlet_source_deliveries_total',
      help: 'Deliveries to the sources on this instance.',
    }),
    webhookAttempts: counterOf(WEBHOOK_OUTCOMES, {
      name: 'inlet_webhook_attempts_total',
      help: 'Deliveries that this instance has sent to outgoing webhooks, each attempt.',
    }),
    webhooks: gauge({
      name: 'inlet_webhooks',
      help: 'Outgoing webhooks by state.',
      labelNames: ['state'],
    }),
    oldestWebhookDelivery: gauge({
      name: 'inlet_webhook_oldest_delivery_seconds',
      help: 'How long the oldest delivery of an active outgoing webhook has waited; 0 if none waits.',
    }),
    pipes: gauge({
      name: 'inlet_pipes',
      help: 'What is received and sent through, by kind and state, as GET /api/status shows it.',
      labelNames: ['kind', 'state'],
    }),
    pipeFailing: gauge({
      name: 'inlet_pipe_failing_seconds',
      help: 'For how long each attempt has failed, of the one of its kind that has failed longest; absent if none fails.',
      labelNames: ['kind'],
    }),
    buffered: counter({
      name: 'inlet_receiver_buffered_total',
      help: 'Deliveries that were retried because the database was unavailable.',
    }),
    claims: counterOf(CLAIM_OUTCOMES, {
      name: 'inlet_claims_total',
      help: 'Claims of tasks that were made, renewed, or released on this instance, and leases whose end it logged.',
    }),
    openClaims: gauge({
      name: 'inlet_claims_open',
      help: 'Tasks that are claimed, on all instances; at most 10,000 are counted.',
    }),
    unreadable: gauge({
      name: 'inlet_receiver_unreadable_deliveries',
      help: 'Deliveries of the last seven days that were not JSON, to all instances.',
    }),
  }
}

function signInsOf(metric: Counter<'way' | 'outcome'>) {
  for (const way of Object.keys(SIGN_IN_WAYS))
    for (const outcome of Object.keys(SIGN_IN_OUTCOMES)) metric.inc({ way, outcome }, 0)
  return metric
}

interface Metric<L extends string> {
  name: string
  help: string
  labelNames?: L[]
}
