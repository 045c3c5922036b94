/**
 * The least that a service can do: Fastify with one route, for GET and POST. BARE_BODY names a file with the response's
 * bytes; with DATABASE_URL it connects before it listens.
 */
import { readFileSync } from 'node:fs'
import fastify, { type RouteHandlerMethod } from 'fastify'
import pg from 'pg'

const { BARE_BODY, DATABASE_URL } = process.env
const body = BARE_BODY ? readFileSync(BARE_BODY, 'utf8') : '{}'
const client = DATABASE_URL ? new pg.Client({ connectionString: DATABASE_URL }) : undefined
await client?.connect()
const app = fastify()
const handler: RouteHandlerMethod = (_, reply) => reply.type('application/json; charset=utf-8').send(body)
app.get('/', handler)
app.post('/', handler)
console.log(`It is at ${await app.listen({ port: 0, host: '127.0.0.1' })}/`)
process.once('SIGTERM', () => process.exit(0))
