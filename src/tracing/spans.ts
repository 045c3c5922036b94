import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { errorType } from '../lib/error-chain.ts'
import type { Attributes, Note, Tracing, Work } from '../lib/traced.ts'

/** Makes spans of what this process does. */
export function spansOf(tracer: Tracer): Tracing {
  return {
    current: () => trace.getActiveSpan(),
    isRecording: () => isRecording(trace.getActiveSpan()),

    logFields() {
      const active = trace.getActiveSpan()?.spanContext()
      if (!active) return {}
      const { traceId, spanId, traceFlags } = active
      return { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags}` }
    },

    trace(work, run) {
      const { kind, causes = [] } = work
      if (kind === 'job') return inSpan(work, { parent: ROOT_CONTEXT, run })
      if (kind === 'request') {
        const parent = context.active()
        // Work that no trace shows, such as polling, has no traces of its own statements either.
        return isRecording(trace.getSpan(parent)) ? inSpan(work, { parent, run }) : run(ignore)
      }
      const [first, ...others] = new Set(causes.filter(isRecording))
      if (!first) return context.with(ROOT_CONTEXT, () => run(ignore))
      return inSpan(work, { parent: trace.setSpan(ROOT_CONTEXT, first), others, run })
    },
  }

  async function inSpan<T>(
    { name, kind, attributes = {} }: Work,
    {
      parent,
      others = [],
      run,
    }: { parent: Context; others?: Span[] | undefined; run: (note: Note) => Promise<T> },
  ): Promise<T> {
    const links = others.map((other) => ({ context: other.spanContext() }))
    const spanKind = kind === 'request' ? SpanKind.CLIENT : SpanKind.INTERNAL
    const span = tracer.startSpan(name, { kind: spanKind, attributes, links }, parent)
    // In both directions: whoever looks at the trace of any of these requests finds the statements.
    for (const other of others) other.addLink({ context: span.spanContext() })
    try {
      return await context.with(trace.setSpan(parent, span), () => run((added) => note(span, added)))
    } catch (error) {
      note(span, { 'error.type': errorType(error) })
      throw error
    } finally {
      span.end()
    }
  }
}

function note(span: Span, attributes: Attributes): void {
  span.setAttributes(attributes)
  // Without a message: those of databases and hosts repeat values.
  if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Cast: `currentWork` returns spans, as unknown values. */
const isRecording = (cause: unknown): cause is Span => (cause as Span | undefined)?.isRecording() === true

function ignore(): void {}
