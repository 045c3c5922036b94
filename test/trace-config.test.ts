import { describe, expect, test } from 'vitest'
import { loadConfig } from '../src/config.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318'
const tracesOf = (env: Record<string, string>) => loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...env }).traces

describe('traces', () => {
  test.each([
    [{}],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [{ OTEL_SERVICE_NAME: 'tasks', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ])('are off with %j', (env) => {
    expect(loadConfig(env).traces).toBeUndefined()
  })

  test('have the defaults of OpenTelemetry, and the name of this service', () => {
    expect(tracesOf({})).toEqual({
      url: 'http://collector:4318/v1/traces',
      protocol: 'http/protobuf',
      headers: {},
      timeoutMs: 10_000,
      isCompressed: false,
      resource: { 'service.name': 'inlet' },
      ratio: 1,
      isParentBased: true,
      isContinued: true,
      queue: { maxSize: 2_048, maxBatch: 512, delayMs: 5_000, timeoutMs: 30_000 },
    })
  })

  test.each([
    ['http://collector:4318/', undefined, 'http://collector:4318/v1/traces'],
    ['https://collector/otlp', undefined, 'https://collector/otlp/v1/traces'],
    ['http://collector:4318', 'https://traces.example.com/custom', 'https://traces.example.com/custom'],
  ])('with the endpoints %s and %s are sent to %s', (general, own, url) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: general, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own ?? '' }
    expect(loadConfig(env).traces?.url).toBe(url)
  })

  test('prefer the variables that are only for traces', () => {
    expect(
      tracesOf({
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TIMEOUT: '1',
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3',
      }),
    ).toMatchObject({ protocol: 'http/json', timeoutMs: 2, headers: { a: '1', b: '3' } })
  })

  test.each([
    ['always_on', true, [1, false]],
    ['always_off', true, [0, false]],
    ['traceidratio', true, [0.25, false]],
    ['parentbased_always_on', true, [1, true]],
    ['parentbased_always_off', true, [0, true]],
    ['parentbased_traceidratio', true, [0.25, true]],
    ['parentbased_traceidratio', false, [1, true]],
  ])('with the sampler %s, and an argument: %s, are sampled as %j', (sampler, hasShare, expected) => {
    const traces = tracesOf({
      OTEL_TRACES_SAMPLER: sampler,
      ...(hasShare && { OTEL_TRACES_SAMPLER_ARG: '0.25' }),
    })
    expect([traces?.ratio, traces?.isParentBased]).toEqual(expected)
  })

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:password@collector'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'bad name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'name=%0a'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'name=%zz'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'not-a-pair'],
    ['OTEL_TRACES_EXPORTER', 'console'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_PROPAGATORS', 'b3'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
  ])('reject %s=%s without showing the value', (name, value) => {
    const load = () => tracesOf({ [name]: value })
    expect(load).toThrow(new RegExp(`^  ${name} must be `, 'm'))
    expect(load).not.toThrow(value === 'grpc' ? 'grpc,' : value)
  })
})
