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
    build: gauge('inlet_build_info', 'Always 1; the labels say what runs.', ['version', 'node']),
    requests: seconds(
      'inlet_http_request_duration_seconds',
      'Time to answer a request, by the pattern of its route and the class of its status.',
      ['method', 'route', 'status'],
      REQUEST_BUCKETS,
    ),
    streams: gauge('inlet_stream_clients', 'Clients that follow GET /api/stream on this instance.'),
    databaseUp: gauge('inlet_database_up', 'Whether the database answered this scrape within 2 s.'),
    databaseRestarts: counter(
      'inlet_database_restarts_total',
      'Times the database server was found to be another than at the scrape before.',
    ),
    ...(isEmbedded && {
      embeddedUp: gauge('inlet_embedded_server_up', 'Whether the embedded PostgreSQL answered this scrape.'),
      embeddedRestarts: counter(
        'inlet_embedded_server_restarts_total',
        'Times the embedded PostgreSQL was found started anew.',
      ),
    }),
    poolConnections: gauge('inlet_pool_connections', 'Database connections of this instance.', ['state']),
    poolMax: gauge('inlet_pool_connections_max', 'Database connections there may be: DATABASE_POOL.'),
    poolWaiting: gauge('inlet_pool_waiting', 'Queries that wait for a connection.'),
    jobs: gauge('inlet_jobs', 'Background work of all instances, by queue and state.', ['queue', 'state']),
    jobSeconds: seconds(
      'inlet_job_duration_seconds',
      'Time a piece of background work took on this instance.',
      ['queue', 'outcome'],
      JOB_BUCKETS,
    ),
    syncRuns: counterOf(
      SYNC_OUTCOMES,
      'inlet_sync_runs_total',
      'Sync runs that ended or were put off on this instance.',
    ),
    syncItems: counter(
      'inlet_sync_entries_total',
      'What became of the issues and pull requests of the runs that ended on this instance.',
      ['outcome'],
    ),
    hostRequests: counter('inlet_codehost_requests_total', 'Requests to code hosts.', ['host', 'outcome']),
    hostRemaining: gauge(
      'inlet_codehost_rate_limit_remaining',
      'Requests that the code host still allows, as its last answer said.',
      ['host'],
    ),
    deliveries: counterOf(
      DELIVERY_OUTCOMES,
      'inlet_receiver_deliveries_total',
      'Deliveries to the feedback receiver of this instance.',
    ),
    buffered: counter(
      'inlet_receiver_held_total',
      'Deliveries that were held because the database was away, whatever became of them.',
    ),
    unreadable: gauge(
      'inlet_receiver_unreadable_deliveries',
      'Deliveries to all instances that were not JSON, today and the six days before.',
    ),
  }
}
