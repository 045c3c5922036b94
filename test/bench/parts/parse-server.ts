import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Figure, inPairs } from '../support/figures.ts'
import { install } from '../support/install.ts'
import { requestsPerSecond } from '../support/load.ts'
import { ADMIN_KEY, query, type Setup, whilePaused } from '../support/setup.ts'
import { TASK } from '../support/statements.ts'

const PARSE_SERVER = { name: 'parse-server', version: '9.10.0' }
const SECONDS = 5
const WARM_UP_SECONDS = 5
const CONNECTIONS = 32

/** Creates in parse-server, which is installed for this run, on the same PostgreSQL. */
export async function parseServer(setup: Setup): Promise<Figure[]> {
  const folder = await install(setup, PARSE_SERVER)
  await writeFile(join(folder, 'serve.cjs'), SERVE)
  await query(setup.adminUrl, 'create database parse')
  const url = new URL(setup.adminUrl)
  url.pathname = '/parse'
  const parse = await setup.program(folder, ['serve.cjs'], { env: { PARSE_DATABASE: url.href } })
  const service = await setup.service({ DATABASE_URL: await setup.database('beside_parse') })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(TASK)
  const ours = (seconds: number) =>
    requestsPerSecond({
      url: service.url,
      connections: CONNECTIONS,
      seconds,
      request: () => ({
        method: 'POST',
        path: '/api/tasks',
        headers: { ...headers, 'x-api-key': ADMIN_KEY },
        body,
      }),
      status: 201,
    })
  const theirs = (seconds: number) =>
    requestsPerSecond({
      url: parse.url,
      connections: CONNECTIONS,
      seconds,
      request: () => ({
        method: 'POST',
        path: '/parse/classes/Task',
        headers: { ...headers, 'x-parse-application-id': 'bench', 'x-parse-master-key': 'bench' },
        body,
      }),
      status: 201,
    })
  try {
    await theirs(WARM_UP_SECONDS)
    await ours(WARM_UP_SECONDS)
    return [
      await inPairs({
        name: 'creates, 32 connections',
        unit: '/s',
        measure: () => ours(SECONDS),
        reference: {
          name: `parse-server ${PARSE_SERVER.version}`,
          measure: () => whilePaused(service, () => theirs(SECONDS)),
        },
        ratioLimit: { atLeast: 2 },
      }),
    ]
  } finally {
    await service.stop()
    await parse.stop()
  }
}

const SERVE = `
const { default: ParseServer } = require('parse-server')
const http = require('node:http')
const express = require('express')
const app = express()
const server = new ParseServer({
  databaseURI: process.env.PARSE_DATABASE, appId: 'bench', masterKey: 'bench', silent: true, logLevel: 'error',
  serverURL: 'http://127.0.0.1/parse', allowClientClassCreation: true, masterKeyIps: ['127.0.0.1', '::1', '0.0.0.0/0'],
})
server.start().then(() => {
  app.use('/parse', server.app)
  const listener = http.createServer(app).listen(0, '127.0.0.1', () =>
    console.log('It is at http://127.0.0.1:' + listener.address().port + '/'))
})
process.once('SIGTERM', () => process.exit(0))
`
