/** Where traces are sent, and which. */
export interface TraceConfig {
  url: string
  protocol: 'http/protobuf' | 'http/json'
  headers: Record<string, string>
  timeoutMs: number
  isCompressed: boolean
  /** Attributes of this service, such as its name. */
  resource: Record<string, string>
  /** The share of new traces that is sampled, 0 to 1. */
  ratio: number
  /** Whether a caller's decision to sample, or not, also applies here. */
  isParentBased: boolean
  /** Whether the trace of a caller is continued. */
  isContinued: boolean
  queue: { maxSize: number; maxBatch: number; delayMs: number; timeoutMs: number }
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
]

const URL_TEXT = /^https?:\/\/[^\s?#@]+$/
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Which values are valid, and how an error message describes them. */
interface Variable {
  isValid(text: string): boolean
  expected: string
}

const oneOf = (values: string[], expected = `one of ${values.join(', ')}`): Variable => ({
  isValid: (text) => values.includes(text),
  expected,
})

const integer = (min: number, expected: string): Variable => ({
  isValid: (text) => /^\d{1,9}$/.test(text) && Number(text) >= min,
  expected,
})

const endpoint = (example: string): Variable => ({
  isValid: (text) => URL_TEXT.test(text) && URL.canParse(text),
  expected: `a URL without credentials or a query, such as ${example}`,
})

const PROTOCOL = oneOf(['http/protobuf', 'http/json'], 'http/protobuf or http/json; grpc is not supported')
const HEADERS: Variable = {
  isValid: (text) => Object.entries(pairsOf(text) ?? { '': '' }).every(isHeader),
  expected: 'headers such as name=value,other=value, with values that are encoded as in a URL',
}
const TIMEOUT = integer(1, 'a number of milliseconds')
const COMPRESSION = oneOf(['gzip', 'none'])

/** The standard variables of OpenTelemetry that Inlet supports. */
const VARIABLES = {
  OTEL_SDK_DISABLED: { isValid: (text) => /^(true|false)$/i.test(text), expected: 'true or false' },
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint('http://127.0.0.1:4318'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint('http://127.0.0.1:4318/v1/traces'),
  OTEL_EXPORTER_OTLP_PROTOCOL: PROTOCOL,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: PROTOCOL,
  OTEL_EXPORTER_OTLP_HEADERS: HEADERS,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: HEADERS,
  OTEL_EXPORTER_OTLP_TIMEOUT: TIMEOUT,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: TIMEOUT,
  OTEL_EXPORTER_OTLP_COMPRESSION: COMPRESSION,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: COMPRESSION,
  OTEL_SERVICE_NAME: { isValid: () => true, expected: 'a name' },
  OTEL_RESOURCE_ATTRIBUTES: {
    isValid: (text) => pairsOf(text) !== undefined,
    expected: 'attributes such as deployment.environment.name=production,team=web',
  },
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS),
  OTEL_TRACES_SAMPLER_ARG: {
    isValid: (text) => /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/.test(text),
    expected: 'a share of traces from 0 to 1, such as 0.1',
  },
  OTEL_PROPAGATORS: {
    isValid: (text) => listOf(text).every((name) => ['tracecontext', 'baggage', 'none'].includes(name)),
    expected: 'tracecontext, baggage, or both separated by a comma, or none',
  },
  OTEL_BSP_MAX_QUEUE_SIZE: integer(1, 'a number of spans'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integer(1, 'a number of spans'),
  OTEL_BSP_SCHEDULE_DELAY: integer(0, 'a number of milliseconds'),
  OTEL_BSP_EXPORT_TIMEOUT: TIMEOUT,
} satisfies Record<string, Variable>

type Name = keyof typeof VARIABLES

/** Cast: `Object.keys` forgets the names. */
export const TRACE_VARIABLES = Object.keys(VARIABLES) as Name[]

/**
 * Reads the variables of OpenTelemetry. Without an endpoint there are no traces, and nothing else is checked: the
 * variables may be there for other programs.
 */
export function readTraceConfig(env: Record<string, string | undefined>): {
  traces?: TraceConfig
  /** A line for each invalid variable. */
  invalid: string[]
} {
  const of = (name: Name) => env[name]?.trim() || undefined
  const general = of('OTEL_EXPORTER_OTLP_ENDPOINT')
  const own = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const isOff = /^true$/i.test(of('OTEL_SDK_DISABLED') ?? '') || of('OTEL_TRACES_EXPORTER') === 'none'
  if (isOff || (!own && !general)) return { invalid: [] }
  const invalid = TRACE_VARIABLES.filter((name) => {
    const text = of(name)
    return text !== undefined && !VARIABLES[name].isValid(text)
  })
  if (invalid.length > 0) {
    return { invalid: invalid.map((name) => `  ${name} must be ${VARIABLES[name].expected}`) }
  }
  const ofEither = (suffix: 'PROTOCOL' | 'TIMEOUT' | 'COMPRESSION') =>
    of(`OTEL_EXPORTER_OTLP_TRACES_${suffix}`) ?? of(`OTEL_EXPORTER_OTLP_${suffix}`)
  const number = (name: Name, fallback: number) => Number(of(name) ?? fallback)
  const sampler = of('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
  const maxSize = number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048)
  return {
    invalid: [],
    traces: {
      url: own ?? `${general?.replace(/\/$/, '')}/v1/traces`,
      protocol: ofEither('PROTOCOL') === 'http/json' ? 'http/json' : 'http/protobuf',
      headers: {
        ...pairsOf(of('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
        ...pairsOf(of('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? ''),
      },
      timeoutMs: Number(ofEither('TIMEOUT') ?? 10_000),
      isCompressed: ofEither('COMPRESSION') === 'gzip',
      resource: {
        'service.name': 'inlet',
        ...pairsOf(of('OTEL_RESOURCE_ATTRIBUTES') ?? ''),
        ...(of('OTEL_SERVICE_NAME') && { 'service.name': of('OTEL_SERVICE_NAME') ?? '' }),
      },
      ratio: ratioOf(sampler, number('OTEL_TRACES_SAMPLER_ARG', 1)),
      isParentBased: sampler.startsWith('parentbased_'),
      isContinued: listOf(of('OTEL_PROPAGATORS') ?? 'tracecontext').includes('tracecontext'),
      queue: {
        maxSize,
        maxBatch: Math.min(maxSize, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
        delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 5_000),
        timeoutMs: number('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
      },
    },
  }
}

/** Of the samplers, `always_on` takes all, `always_off` none, and `traceidratio` a share. */
function ratioOf(sampler: string, ratio: number): number {
  if (sampler.endsWith('traceidratio')) return ratio
  return sampler.endsWith('always_on') ? 1 : 0
}

const listOf = (text: string) => text.split(',').map((name) => name.trim())

/** Reads `name=value,other=value`. Undefined if it is invalid. */
function pairsOf(text: string): Record<string, string> | undefined {
  const pairs: Record<string, string> = {}
  for (const pair of text.split(',').filter((pair) => pair.trim() !== '')) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair.trim()) ?? []
    if (name.trim() === '') return undefined
    try {
      pairs[name.trim()] = decodeURIComponent(value.trim())
    } catch {
      return undefined
    }
  }
  return pairs
}

const isHeader = ([name, value]: [string, string]) => HEADER_NAME.test(name) && /^[\x20-\x7e]*$/.test(value)
