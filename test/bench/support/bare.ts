/**
 * What a figure is held against: Fastify with one route, to get or to post, and nothing else. BARE_BODY names a file whose bytes it answers
 * with; with DATABASE_URL it connects before it listens, as a service has to.
 */
import { readFileSync } from 'node:fs'
import fastify, { type RouteHandlerMethod } from 'fastify'
import pg from 'pg'

const { BARE_BODY, DATABASE_URL } = process.env
const body = BARE_BODY ? readFileSync(BARE_BODY, 'utf8') : '{}'
const client = DATABASE_URL ? new pg.Client({ connectionString: DATABASE_URL }) : undefined
await client?.connect()
const app = fastify()
const answer: RouteHandlerMethod = (_, reply) => reply.type('application/json; charset=utf-8').send(body)
app.get('/', answer)
app.post('/', answer)
console.log(`It is at ${await app.listen({ port: 0, host: '127.0.0.1' })}/`)
process.once('SIGTERM', () => process.exit(0))
