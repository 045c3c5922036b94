import { randomUUID } from 'node:crypto'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { traceWith } from '../lib/traced.ts'
import { VERSION } from '../lib/version.ts'
import type { TraceConfig } from '../trace-config.ts'
import { spansOf } from './spans.ts'

interface TracingOptions extends TraceConfig {
  logger: { warn(about: object, message: string): void; info(message: string): void }
}

/** What a shutdown waits for the last spans, if the collector does not respond. */
const STOP_MS = 1_500

/** Texts of strangers, such as the path of a request, are cut after this many characters. */
const MAX_TEXT = 1_024

/** Turns traces on. Returns what ends them, and sends the rest. */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  const { ratio, isParentBased, isContinued, resource, queue, logger } = options
  const root = new TraceIdRatioBasedSampler(ratio)
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': VERSION,
        'service.instance.id': randomUUID(),
        ...resource,
      }),
    ),
    sampler: isParentBased ? new ParentBasedSampler({ root }) : root,
    spanLimits: { attributeValueLengthLimit: MAX_TEXT },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(await exporterOf(options), logger),
        maxQueueSize: queue.maxSize,
        maxExportBatchSize: queue.maxBatch,
        scheduledDelayMillis: queue.delayMs,
        exportTimeoutMillis: queue.timeoutMs,
      }),
    ],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  if (isContinued) propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  traceWith(spansOf(trace.getTracer('inlet', VERSION)))

  return async () => {
    const { promise: deadline, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STOP_MS)
    // A failed export was reported.
    await Promise.race([provider.shutdown().catch(() => {}), deadline])
    clearTimeout(timer)
  }
}

/** Only the one that is used is loaded. */
async function exporterOf({
  protocol,
  url,
  headers,
  timeoutMs,
  isCompressed,
}: TraceConfig): Promise<SpanExporter> {
  const { CompressionAlgorithm } = await import('@opentelemetry/otlp-exporter-base')
  const compression = isCompressed ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE
  const given = { url, headers, timeoutMillis: timeoutMs, compression }
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter(given)
}

/** Logs that exports fail, and that they work again: one line each, however long it takes. */
function reporting(exporter: SpanExporter, logger: TracingOptions['logger']): SpanExporter {
  let isFailing = false
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        report(result)
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }

  function report({ code, error }: ExportResult): void {
    const hasFailed = code !== ExportResultCode.SUCCESS
    if (hasFailed === isFailing) return
    isFailing = hasFailed
    if (hasFailed) logger.warn({ reason: error?.message }, 'traces cannot be sent, and are dropped')
    else logger.info('traces are sent again')
  }
}
