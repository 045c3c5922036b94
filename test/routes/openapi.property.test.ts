import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import {
  type Document,
  type GeneratedRequest,
  type Known,
  operationsOf,
  requestFrom,
  requestsTo,
} from '../support/openapi-requests.ts'
import { sendRaw } from '../support/raw.ts'

const REQUESTS = 2_000
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)

let service: TestApp
let document: Document
let known: Known
beforeAll(async () => {
  service = await startApp()
  document = (await service.get('/openapi.json')).body
  await givenSomeOfEverything()
  known = { ids: await idsOfEverything(), keys: await keysOfAllKinds() }
})
afterAll(() => service.close())

describe('any request to any route of the API reference', () => {
  test('gets a response that matches the reference, and never a 500', {
    timeout: 120_000,
  }, async () => {
    const operations = operationsOf(document)
    const describesResponse = respondsAsDescribed()
    const tried = new Set<string>()
    let well = 0

    const outcome = await fc.check(
      fc.asyncProperty(
        fc.oneof(...operations.map((operation) => requestsTo(operation, { document, known }))),
        async (request) => {
          const response = await send(request)
          tried.add(nameOf(request.operation))
          if (response.status < 300) well++
          describesResponse(request, response)
        },
      ),
      { numRuns: REQUESTS, seed: SEED, interruptAfterTimeLimit: 240_000, endOnFailure: true },
    )

    expect(outcome.failed ? reportOf(outcome) : '').toBe('')
    expect(outcome.numRuns).toBe(REQUESTS)
    // Every route was tried, and what is refused everywhere would prove nothing.
    expect([...tried].sort()).toEqual(operations.map(nameOf).sort())
    expect(well / outcome.numRuns).toBeGreaterThan(0.1)
  })
})

const nameOf = ({ method, path }: GeneratedRequest['operation']) => `${method} ${path}`

const send = ({ operation, path, headers, body }: GeneratedRequest) =>
  sendRaw(service.url, {
    method: operation.method,
    // A long poll that finds nothing would take up to a minute.
    path: path.replace(/\bwait=\d+/, 'wait=1'),
    headers,
    ...(body !== undefined && (headers['transfer-encoding'] ? { chunks: [Buffer.from(body)] } : { body })),
  })

/** Checks a response against the reference: its status, its headers, its type, its body. */
function respondsAsDescribed() {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const checks = new Map<string, ValidateFunction>()

  return (
    { operation: { method, path, responses } }: GeneratedRequest,
    { status, headers, body }: ApiResponse,
  ) => {
    // The one error of another system: no code host listens here.
    if (!JSON.stringify(body).includes('"codehost_unreachable"')) expect(status).toBeLessThan(500)
    const described = responses[status]
    expect(described, `${status} is not in the reference`).toBeDefined()
    expect(headers.get('x-request-id')).toMatch(/^[\w.:/+=-]{1,128}$/)
    if (!described?.content) return expect(body).toBe('')

    const type = headers.get('content-type')?.split(';')[0] ?? ''
    expect(Object.keys(described.content)).toContain(type)
    // The headers are those of GET, and there is no body.
    if (method.toUpperCase() === 'HEAD') return expect(body).toBe('')
    if (type === 'text/event-stream') return
    const place = [
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      type,
      'schema',
    ]
    const $ref = `openapi#/${place.map(asPointer).join('/')}`
    const isValid = checks.get($ref) ?? ajv.compile({ $ref })
    checks.set($ref, isValid)
    expect(isValid(body) ? '' : ajv.errorsText(isValid.errors)).toBe('')
    if (status >= 400) expect(body).toMatchObject({ status, requestId: headers.get('x-request-id') })
  }
}

const asPointer = (segment: string) => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Rows of what no route makes, and the first things of what routes do make. */
async function givenSomeOfEverything() {
  const project = await service.given.project()
  const list = await service.given.list(project.id)
  const archived = await service.given.project({ archivedAt: new Date() })
  await service.given.task(archived.inbox)
  await service.given.task(list, { deletedAt: new Date(), externalId: 'sentry-4711' })
  for (const source of ['api', 'codehost', 'analytics', 'dashboard'] as const) {
    await service.given.task(list, { source, description: 'As it came' })
  }
  const creating = operationsOf(document).filter(
    ({ method, requestBody }) => method === 'POST' && requestBody,
  )
  const context = { ids: await idsOfEverything(), keys: [service.adminKey] }
  for (const operation of creating) {
    for (const request of fc.sample(requestFrom(operation, { caller: 'careful', document, known: context }), {
      numRuns: 5,
      seed: SEED,
    })) {
      await send(request)
    }
  }
}

/** Ids by table, but not that of our own key: a walk that ends its own key sees nothing but 401. */
async function idsOfEverything(): Promise<Record<string, string[]>> {
  const tables = await service.query(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'id' and data_type = 'uuid'`,
  )
  const own = (await service.get('/api/me')).body.id
  const ids: Record<string, string[]> = {}
  for (const { name } of tables) {
    const rows = await service.query(`select id from "${name}" where id <> $1 order by id desc limit 20`, [
      own,
    ])
    if (rows.length > 0) ids[name] = rows.map(({ id }) => id)
  }
  return ids
}

/** Mostly one that may do everything. */
async function keysOfAllKinds() {
  const project = await service.given.project()
  const bound = await service.given.key({ projectId: project.id })
  const weak = await service.given.key({ scopes: ['activity:write'] })
  const expired = await service.given.key({ expiresAt: new Date(0) })
  return [...Array(12).fill(service.adminKey), bound, bound, weak, expired, 'inl_wrong', '\u00e4', undefined]
}

function reportOf(outcome: fc.RunDetails<[GeneratedRequest]>): string {
  const [{ operation, path, headers, body = '' }] = outcome.counterexample ?? [{} as GeneratedRequest]
  return [
    `FC_SEED=${outcome.seed} shows it again (after ${outcome.numRuns} requests)`,
    `${operation.method} ${path}`.slice(0, 1000),
    JSON.stringify(headers).slice(0, 1000),
    String(body).slice(0, 2000),
    String((outcome.errorInstance as Error)?.message),
  ].join('\n')
}
