import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { tracing } from '../support/traced-inlet.ts'

/** Prints the address of each module of OpenTelemetry that is loaded, except for its API: the metrics load that. */
const PRINTING = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) {
  if (/@opentelemetry\\/(?!api\\/)|src\\/tracing\\//.test(url)) process.stderr.write('loaded ' + url + '\\n')
  return next(url, context)
} })`

const { collector, connectionString, started } = tracing()

describe('traces', () => {
  test('are sent as protobuf by default, with headers, compressed if required', async () => {
    const inlet = await started({
      OTEL_EXPORTER_OTLP_PROTOCOL: '',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20dGVzdA%3D%3D,x-tenant=one',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    })
    await inlet.get('/api/projects')
    await expect.poll(() => collector().text()).toContain('GET /api/projects')
    expect(collector().exports[0]).toMatchObject({
      path: '/v1/traces',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
        authorization: 'Basic dGVzdA==',
        'x-tenant': 'one',
      },
    })
  })

  test('are made of the cleanup, with its statements', async () => {
    // The first worker of a database cleans up at once.
    const { connectionString, drop } = await freshDatabase()
    onTestFinished(drop)
    const inlet = await started({ DATABASE_URL: connectionString })
    const job = await inlet.spanNamed('cleanup')
    expect(job).toMatchObject({ parentSpanId: '', status: 0 })
    const names = collector()
      .partsOf(job)
      .map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['DELETE idempotency_keys', 'DELETE sessions']))
  })

  test('name the service', async () => {
    const inlet = await started({
      OTEL_SERVICE_NAME: 'tasks',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test%20bench',
    })
    await inlet.get('/api/me')
    await inlet.spanNamed('GET /api/me')
    expect(collector().resources()[0]).toMatchObject({
      'service.name': 'tasks',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'deployment.environment.name': 'test bench',
      'telemetry.sdk.language': 'nodejs',
    })
  })

  test('tell two instances apart', async () => {
    const instances = [await started(), await started()]
    for (const [index, inlet] of instances.entries()) {
      await inlet.get('/api/me')
      const idsOfInstances = () =>
        new Set(
          collector()
            .resources()
            .map((resource) => resource['service.instance.id']),
        )
      await expect.poll(() => idsOfInstances().size).toBe(index + 1)
    }
  })

  test('that the sampler leaves out are not sent', async () => {
    const inlet = await started({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' })
    await inlet.post('/api/tasks', { title: 'Not sampled' })
    expect(await inlet.end()).toMatchObject({ code: 0 })
    expect(collector().exports).toEqual([])
  })

  test('of the last requests are sent by a shutdown', async () => {
    const inlet = await started({ OTEL_BSP_SCHEDULE_DELAY: '600000' })
    await inlet.get('/api/projects')
    expect(collector().exports).toEqual([])
    expect(await inlet.end()).toMatchObject({ code: 0 })
    expect(
      collector()
        .spans()
        .map(({ name }) => name),
    ).toContain('GET /api/projects')
  })

  test('disturb nothing while the collector refuses them, which one line says', async () => {
    collector().respondWith(400)
    const inlet = await started()
    const create = () => inlet.post('/api/tasks', { title: 'Kept' })
    for (const exported of [1, 2, 3]) {
      expect(await create()).toMatchObject({ status: 201 })
      await expect.poll(() => collector().exports.length).toBeGreaterThanOrEqual(exported)
    }
    collector().respondWith(200)
    await expect
      .poll(async () => {
        await create()
        return inlet.output()
      })
      .toContain('traces are sent again')
    expect(inlet.output().match(/traces cannot be sent/g)).toHaveLength(1)
    expect(await inlet.end()).toMatchObject({ code: 0 })
  })

  test('delay neither requests nor the end if nothing listens', async () => {
    const inlet = await started({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
    expect(await inlet.post('/api/tasks', { title: 'Kept' })).toMatchObject({ status: 201 })
    expect(await inlet.end()).toMatchObject({ code: 0 })
  })

  test('need a valid environment', async () => {
    const inlet = spawnInlet({
      env: {
        DATABASE_URL: connectionString(),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector().url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      },
    })
    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(inlet.output()).toContain(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; grpc is not supported',
    )
  })
})

describe('the SDK of OpenTelemetry', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['not loaded without an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    ['not loaded with OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }, false],
    ['not loaded with OTEL_TRACES_EXPORTER=none', { OTEL_TRACES_EXPORTER: 'none' }, false],
    ['loaded with an endpoint', {}, true],
  ])('is %s', async (_, env, isLoaded) => {
    const preloaded = `data:text/javascript,${encodeURIComponent(PRINTING)}`
    const inlet = await started({ NODE_OPTIONS: `--import=${preloaded}`, ...env })
    await inlet.post('/api/tasks', { title: 'Any' })
    expect(await inlet.end()).toMatchObject({ code: 0 })
    expect(/^loaded /m.test(inlet.output())).toBe(isLoaded)
    expect(collector().exports.length > 0).toBe(isLoaded)
  })
})
