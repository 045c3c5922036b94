import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { isRecorded, type Note, traced, type Work } from '../lib/traced.ts'

type Result = pg.QueryResult
type Callback = (error: unknown, result?: Result) => void

/** Returns connections whose statements are part of traces, without their values. */
export function tracedClient(Client: typeof pg.Client) {
  return class TracedClient extends Client {
    /** The driver has nine signatures for this. */
    // biome-ignore lint/suspicious/noExplicitAny: passes on what it gets.
    override query(config: any, ...[values, callback]: any[]): any {
      // The second reports its own end.
      if (!isRecorded() || typeof config.submit === 'function') return super.query(config, values, callback)
      const given = typeof values === 'function' ? undefined : values
      const onEnd: Callback | undefined = typeof values === 'function' ? values : callback
      const result = traced(statementOf(this, config), (note) =>
        super.query(config, given).catch((error: unknown) => {
          noteCode(note, error)
          throw error
        }),
      )
      if (!onEnd) return result
      result.then((rows: Result) => onEnd(undefined, rows), onEnd)
    }
  }
}

/** A statement that waited for a connection gets it from whoever releases it, and would become part of that one's trace. */
export function keepTraces(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool)
  // biome-ignore lint/suspicious/noExplicitAny: the driver has two signatures for this.
  pool.connect = (callback?: any): any => connect(callback && AsyncLocalStorage.bind(callback))
}

/** The values are omitted. */
export function statementOf({ database, host, port }: pg.Client, config: string | pg.QueryConfig): Work {
  const { name, text } = typeof config === 'string' ? { name: undefined, text: config } : config
  const { operation, summary } = summaryOf(text)
  // Statements that are built for a request have a number, which says nothing.
  const shown = name?.split(' #')[0] ?? summary
  return {
    name: shown,
    kind: 'request',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': shown,
      'server.address': host,
      'server.port': port,
      ...(database && { 'db.namespace': database }),
    },
  }
}

/** Of a longer text, the beginning says what it does. */
const MAX_READ = 4_000
/** Neither `for update` nor `on conflict do update`. */
const WRITTEN = /(?<!\b(?:for|do|key)\s)\b(insert\s+into|update|delete\s+from)\s+(?:only\s+)?"?(\w+)/i
const READ = /\bfrom\s+(?:only\s+)?"?(\w+)/i

/** `INSERT tasks` of a statement with any number of parts: what it writes, otherwise what it reads. */
export function summaryOf(text: string): { operation: string; summary: string } {
  const beginning = text.slice(0, MAX_READ)
  const first = wordOf(beginning)
  const isQuery = ['SELECT', 'WITH', 'INSERT', 'UPDATE', 'DELETE'].includes(first)
  if (!isQuery) return { operation: first, summary: first }
  const [, write, written] = WRITTEN.exec(beginning) ?? []
  if (write) return { operation: wordOf(write), summary: `${wordOf(write)} ${written}` }
  const read = READ.exec(beginning)?.[1]
  return { operation: 'SELECT', summary: read ? `SELECT ${read}` : 'SELECT' }
}

const wordOf = (text: string) => /\w+/.exec(text)?.[0].toUpperCase() ?? ''

function noteCode(note: Note, error: unknown): void {
  if (error instanceof Error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))) {
    note({ 'db.response.status_code': String(error.code) })
  }
}
