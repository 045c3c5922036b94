import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

export interface CollectedSpan {
  name: string
  /** 1 internal, 2 server, 3 client. */
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  /** 2 is an error. */
  status: number
}

interface Export {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>

/** Receives traces as a collector does, over OTLP. */
export async function startTraceCollector() {
  const exports: Export[] = []
  let respondsWith = 200
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const isPacked = request.headers['content-encoding'] === 'gzip'
    const { url: path = '', headers } = request
    exports.push({ path, headers, body: isPacked ? gunzipSync(body) : body })
    response.writeHead(respondsWith, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const spans = (): CollectedSpan[] =>
    exports.flatMap(({ body }) => spansIn(JSON.parse(body.toString('utf8'))))

  return {
    url: `http://127.0.0.1:${port}`,
    exports,
    /** Of JSON. */
    spans,
    /** The statements and requests of a trace. */
    partsOf: ({ traceId }: CollectedSpan) =>
      spans().filter((span) => span.traceId === traceId && span.kind === 3),
    /** One of each export. */
    resources: (): Record<string, unknown>[] =>
      exports.map(({ body }) =>
        attributesOf(JSON.parse(body.toString('utf8')).resourceSpans[0].resource.attributes),
      ),
    /** All bytes that arrived. */
    text: () => exports.map(({ body }) => body.toString('latin1')).join('\n'),
    respondWith(status: number): void {
      respondsWith = status
    },
    forget(): void {
      exports.length = 0
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: OTLP's JSON.
type Json = any

function spansIn({ resourceSpans }: Json): CollectedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }: Json) => scopeSpans)
    .flatMap(({ spans }: Json) => spans)
    .map((span: Json) => ({
      ...span,
      parentSpanId: span.parentSpanId ?? '',
      attributes: attributesOf(span.attributes),
      links: span.links ?? [],
      status: span.status.code ?? 0,
    }))
}

const attributesOf = (attributes: Json[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
