import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { DeliveryOutcome, SyncOutcome } from './index.ts'

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

/** All metrics. Label values come from fixed lists, never from a request. */
export function metricDefinitions({ isEmbedded }: { isEmbedded: boolean }) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const counterOf = (outcomes: Record<string, 0>, name: string, help: string) => {
    const metric = counter(name, help, ['outcome'])
    for (const [outcome, zero] of Object.entries(outcomes)) metric.inc({ outcome }, zero)
    return metric
  }
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const seconds = <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })

  return {
    registry,
    build: gauge('inlet_build_info', 'Always 1. The labels have the versions of Inlet and Node.js.', [
      'version',
      'node',
    ]),
    requests: seconds(
      'inlet_http_request_duration_seconds',
      'Duration of HTTP requests, by route pattern and status class.',
      ['method', 'route', 'status'],
      REQUEST_BUCKETS,
    ),
    streams: gauge('inlet_stream_clients', 'Clients connected to GET /api/stream on this instance.'),
    databaseUp: gauge('inlet_database_up', '1 if the database responded within 2 s, otherwise 0.'),
    databaseRestarts: counter(
      'inlet_database_restarts_total',
      'Restarts of the database that this instance detected.',
    ),
    ...(isEmbedded && {
      embeddedUp: gauge(
        'inlet_embedded_server_up',
        '1 if the embedded PostgreSQL responded within 2 s, otherwise 0.',
      ),
      embeddedRestarts: counter(
        'inlet_embedded_server_restarts_total',
        'Restarts of the embedded PostgreSQL that this instance detected.',
      ),
    }),
    poolConnections: gauge('inlet_pool_connections', 'Database connections of this instance.', ['state']),
    poolMax: gauge('inlet_pool_connections_max', 'Maximum of database connections, from DATABASE_POOL.'),
    poolWaiting: gauge('inlet_pool_waiting', 'Queries waiting for a connection.'),
    jobs: gauge('inlet_jobs', 'Background jobs of all instances, by queue and state.', ['queue', 'state']),
    jobSeconds: seconds(
      'inlet_job_duration_seconds',
      'Duration of background jobs on this instance.',
      ['queue', 'outcome'],
      JOB_BUCKETS,
    ),
    syncRuns: counterOf(
      SYNC_OUTCOMES,
      'inlet_sync_runs_total',
      'Sync runs that ended or were postponed on this instance.',
    ),
    syncItems: counter(
      'inlet_sync_entries_total',
      'Issues and pull requests of sync runs that ended on this instance, by outcome.',
      ['outcome'],
    ),
    hostRequests: counter('inlet_codehost_requests_total', 'Requests to code hosts.', ['host', 'outcome']),
    hostRemaining: gauge(
      'inlet_codehost_rate_limit_remaining',
      'Requests left in the rate limit of the code host, from its last response.',
      ['host'],
    ),
    deliveries: counterOf(
      DELIVERY_OUTCOMES,
      'inlet_receiver_deliveries_total',
      'Deliveries to the feedback receiver of this instance.',
    ),
    buffered: counter(
      'inlet_receiver_held_total',
      'Deliveries that were retried because the database was unavailable.',
    ),
    unreadable: gauge(
      'inlet_receiver_unreadable_deliveries',
      'Deliveries of the last seven days that were not JSON, to all instances.',
    ),
  }
}
