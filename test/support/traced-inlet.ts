import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { ADMIN_KEY, cleanUp, spawnInlet } from './inlet-process.ts'
import { freshDatabase } from './postgres.ts'
import { type CollectedSpan, startTraceCollector, type TraceCollector } from './trace-collector.ts'

interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
}

/** A database for all tests of the file that calls this, and a collector for each of them. */
export function tracing() {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let collector: TraceCollector
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    collector = await startTraceCollector()
  })
  afterEach(async () => {
    await cleanUp()
    await collector.close()
  })
  return {
    collector: () => collector,
    connectionString: () => database.connectionString,
    /** Starts Inlet, which ends with the test. */
    started: (env: Record<string, string> = {}) =>
      startTraced(collector, { DATABASE_URL: database.connectionString, ...env }),
  }
}

/** One Inlet for all tests of the file that calls this: a test sees what happens from its beginning on. */
export function sharedTracing(env: Record<string, string> = {}) {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let collector: TraceCollector
  let inlet: Awaited<ReturnType<typeof startTraced>>
  beforeAll(async () => {
    database = await freshDatabase()
    collector = await startTraceCollector()
    inlet = await startTraced(collector, { DATABASE_URL: database.connectionString, ...env })
  })
  beforeEach(async () => {
    // Spans are sent in the order in which they end.
    const path = `/problems/${randomUUID()}`
    await inlet.get(path)
    await inlet.span(({ attributes }) => attributes['url.path'] === path)
    collector.forget()
  })
  afterAll(async () => {
    await cleanUp()
    await collector.close()
    await database.drop()
  })
  return { collector: () => collector, connectionString: () => database.connectionString, inlet: () => inlet }
}

/** Inlet in a process of its own, which sends its traces to a collector as JSON. */
async function startTraced(collector: TraceCollector, env: Record<string, string>) {
  const inlet = spawnInlet({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ...env,
    },
  })
  const url = await inlet.url

  async function call(method: string, path: string, { body, headers = {} }: CallOptions = {}) {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-api-key': ADMIN_KEY,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
    const json: any = await response.json().catch(() => undefined)
    return { status: response.status, body: json }
  }

  /** Waits for a span. */
  async function span(matches: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    let found: CollectedSpan | undefined
    await expect
      .poll(() => {
        found = collector.spans().find(matches)
        return found
      })
      .toBeDefined()
    if (!found) throw new Error('There is no such span.')
    return found
  }

  return {
    ...inlet,
    address: new URL(url),
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, headers && { headers }),
    post: (path: string, body: unknown, headers?: Record<string, string>) =>
      call('POST', path, { body, ...(headers && { headers }) }),
    span,
    spanNamed: (name: string) => span((span) => span.name === name),
    /** Ends it as a supervisor does. */
    async end() {
      inlet.process.kill('SIGTERM')
      return inlet.ended
    },
  }
}
