import fc from 'fast-check'
import { bodyFor, type Context, type Schema, valueFor } from './openapi-values.ts'

export interface Operation {
  method: string
  path: string
  parameters?: { in: 'path' | 'query' | 'header'; name: string; schema: Schema; example?: unknown }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, unknown> }>
}

export interface Document {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>
  components: { schemas: Record<string, Schema> }
}

export interface GeneratedRequest {
  operation: Pick<Operation, 'method' | 'path' | 'responses'>
  path: string
  headers: Record<string, string>
  body?: string | Buffer
}

export interface Known {
  /** Ids of what exists, by table. */
  ids: Record<string, string[]>
  /** Keys to call with; undefined sends none. */
  keys: (string | undefined)[]
}

export const operationsOf = (document: Document): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, rest]) => ({ ...rest, method: method.toUpperCase(), path })),
  )

interface RequestContext {
  document: Document
  known: Known
}

/** Requests as callers send them: some valid, most invalid in one place or another. */
export function requestsTo(operation: Operation, context: RequestContext): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(
    { weight: 1, arbitrary: requestFrom(operation, { caller: 'careful', ...context }) },
    { weight: 3, arbitrary: requestFrom(operation, { caller: 'careless', ...context }) },
  )
}

export function requestFrom(
  { parameters = [], requestBody, ...operation }: Operation,
  { caller, document, known }: RequestContext & { caller: 'careful' | 'careless' },
): fc.Arbitrary<GeneratedRequest> {
  const isValid = caller === 'careful'
  const context: Context = { schemas: document.components.schemas, ids: known.ids, isValid }
  const resource = operation.path.split('/').find((_, index, all) => all[index + 1]?.startsWith('{')) ?? ''
  const sentIn = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, example }) => {
        const known = example === undefined ? schema : { ...schema, examples: [example] }
        return [name, valueFor(known, { context, name: name === 'id' ? resource : name })] as const
      })
  const body = requestBody?.content['application/json']?.schema
  const odd = <T, U>(odd: readonly T[], usual: U) =>
    isValid
      ? fc.constant(usual)
      : fc.oneof(
          { weight: 7, arbitrary: fc.constant(usual) },
          { weight: 1, arbitrary: fc.constantFrom(...odd) },
        )

  return fc
    .record({
      path: fc.record(Object.fromEntries(sentIn('path'))),
      query: some(sentIn('query')),
      hasUnusualQuery: odd(UNUSUAL_QUERIES, ''),
      headers: some(sentIn('header')),
      hasUnusualHeaders: odd(UNUSUAL_HEADERS, {}),
      key: isValid ? fc.constant(known.keys[0]) : fc.constantFrom(...known.keys),
      body: body ? bodyFor(body, context) : odd(UNUSUAL_BODIES, undefined),
      type: odd(UNUSUAL_TYPES, 'application/json'),
    })
    .map(({ path, query, hasUnusualQuery, headers, hasUnusualHeaders, key, body, type }) => ({
      operation,
      path: addressOf(operation.path, { path, query, odd: hasUnusualQuery }),
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(body !== undefined && type !== undefined && { 'content-type': type }),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, inHeader(value)])),
        ...hasUnusualHeaders,
      },
      ...(body !== undefined && operation.method !== 'GET' && { body }),
    }))
}

/** Few of many: of a dozen filters at once, one would always be wrong. */
const some = (all: (readonly [string, fc.Arbitrary<unknown>])[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.subarray(all, { maxLength: Math.min(all.length, 3) }).chain((few) => fc.record(Object.fromEntries(few)))

function addressOf(
  template: string,
  { path, query, odd }: { path: Record<string, unknown>; query: Record<string, unknown>; odd: string },
) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${encoded(one)}`),
  )
  // Node refuses addresses over 16 KiB before the service sees them.
  let room = 10_000
  const fitting = pairs.filter(({ length }) => {
    room -= length
    return room > 0
  })
  const search = [...fitting, odd].filter(Boolean).join('&')
  return template.replace(/\{(\w+)\}/g, (_, name) => encoded(path[name]) || '%20') + (search && `?${search}`)
}

const UNUSUAL_QUERIES = [
  'nope=1',
  '__proto__=1',
  'constructor[prototype]=1',
  '=',
  '&&&',
  '%',
  '%zz=%00',
  'limit=1&limit=2',
  'q=%ed%a0%80',
  '%00',
]
const UNUSUAL_BODIES = ['', '{}', '{"nope":1}', '{', 'null']
const UNUSUAL_TYPES = [
  undefined,
  'application/json; charset=utf-8',
  'application/json;charset=latin1',
  'text/plain',
  'nonsense',
  '',
  ';',
  'a/b/c',
]
const UNUSUAL_HEADERS: Record<string, string>[] = [
  { 'x-request-id': 'sane-1' },
  { 'x-request-id': 'not sane' },
  { accept: 'text/html' },
  { accept: '' },
  { 'accept-encoding': 'br, gzip' },
  { 'if-match': '"' },
  { 'if-none-match': '*' },
  { range: 'bytes=0-1' },
  { 'content-encoding': 'gzip' },
  { origin: 'https://evil.example' },
  { 'x-forwarded-for': '\u00ff, , 1.2.3.4' },
  { 'x-http-method-override': 'DELETE' },
  { 'transfer-encoding': 'chunked' },
  { cookie: '=;;; inlet_session=x; __proto__=1' },
  { authorization: 'Bearer \u00e4' },
]

const encoded = (value: unknown) => encodeURIComponent(asText(value).slice(0, 1100).toWellFormed())

const inHeader = (value: unknown) =>
  asText(value)
    .slice(0, 1500)
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')

const asText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
