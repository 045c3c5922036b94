import pg from 'pg'

/** Settings of the server: limits in milliseconds, and costs. */
export interface TransactionSettings {
  statement_timeout: number
  idle_in_transaction_session_timeout: number
  random_page_cost: number
}

type Callback = (error: Error | undefined, result: pg.QueryResult) => void

/** What the driver's queries have beside what their types show. */
interface QueryInside {
  text: string
  queryMode?: 'extended'
  callback?: Callback
  submit(connection: pg.Connection): Error | null
  prepare(connection: pg.Connection): void
  handleDataRow(row: unknown): void
  handleCommandComplete(message: unknown, connection: pg.Connection): void
}

/**
 * Returns connections for a pooler that may give each transaction another session, such as PgBouncer in transaction mode.
 * They rely on nothing that a session keeps, and leave nothing in it: their statements have no names, and the limits are
 * set within each transaction, in the same round trip as its first statement. Startup parameters would be refused.
 *
 * The name must not contain "Pool": drizzle would take the connection for one.
 */
export function transactionClient(limits: TransactionSettings) {
  return class TransactionClient extends pg.Client {
    /** The driver has nine signatures for this. */
    // biome-ignore lint/suspicious/noExplicitAny: passes on what it gets.
    override query(config: any, ...[values, callback]: any[]): any {
      const query = boundedQuery(new pg.Query(withoutName(config), values, callback), {
        limits,
        isIdle: () => this.getTransactionStatus() === 'I',
      })
      if (query.callback) return super.query(query)
      return new Promise((resolve, reject) => {
        query.callback = (error, result) => (error ? reject(error) : resolve(result))
        super.query(query)
      })
    }
  }
}

const withoutName = (config: string | pg.QueryConfig) =>
  typeof config === 'string' ? config : { ...config, name: undefined }

interface BoundedQueryOptions {
  limits: TransactionSettings
  /** Whether no transaction is open. */
  isIdle(): boolean
}

/**
 * Makes a query set the limits if it opens a transaction. One that is a transaction of its own shares it with the
 * statement before it, because both come before the next Sync.
 */
function boundedQuery(query: pg.Query, { limits, isIdle }: BoundedQueryOptions) {
  const inside = insideOf(query)
  const { submit, prepare, handleDataRow, handleCommandComplete } = inside
  let isSettingLimit = false
  return Object.assign(query, {
    callback: inside.callback,

    submit(connection: pg.Connection) {
      if (!isIdle()) return submit.call(query, connection)
      if (/^\s*(begin|start transaction)\b/i.test(inside.text)) {
        connection.query([inside.text, ...settings(limits)].join('; '))
        return null
      }
      isSettingLimit = true
      inside.queryMode = 'extended'
      return submit.call(query, connection)
    },

    prepare(connection: pg.Connection) {
      if (isSettingLimit) {
        // `set local` would log a warning where the transaction is the statement's own.
        const { statement_timeout, random_page_cost } = limits
        const text = `select ${Object.entries({ statement_timeout, random_page_cost })
          .map(([name, value]) => `set_config('${name}', '${value}', true)`)
          .join(', ')}`
        connection.parse({ name: '', text, types: [] }, true)
        connection.bind({}, true)
        connection.execute({}, true)
      }
      prepare.call(query, connection)
    },

    handleDataRow(row: unknown) {
      if (!isSettingLimit) handleDataRow.call(query, row)
    },

    handleCommandComplete(message: unknown, connection: pg.Connection) {
      if (!isSettingLimit) return handleCommandComplete.call(query, message, connection)
      isSettingLimit = false
    },
  })
}

const settings = (limits: TransactionSettings) =>
  Object.entries(limits).map(([name, ms]) => `set local ${name} = ${ms}`)

/** Cast: the driver's types leave these members out. */
const insideOf = (query: pg.Query) => query as unknown as QueryInside
