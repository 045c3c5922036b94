import { hash, randomBytes } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, loadConfig } from './config.ts'
import { encryptionKeyFile, findEncryptionKey } from './db/embedded/encryption-key.ts'
import { systemClock } from './lib/clock.ts'
import { VERSION } from './lib/version.ts'
import { databaseNames, shownOnce } from './start-text.ts'

const USAGE = `Usage:
  npm run keys -- create --admin [--name NAME]    Creates an admin key, and shows it once.
  npm run backup -- FILE                          Backs up the embedded database, also while Inlet runs.
  npm run restore -- FILE [--move-existing]       Restores it. --move-existing renames a database that is there.
`

const OPTIONS = {
  admin: { type: 'boolean', default: false },
  name: { type: 'string', default: 'Admin key' },
  'move-existing': { type: 'boolean', default: false },
} as const

/** What a command gets. */
interface Call {
  config: Config
  /** The arguments after the command. */
  words: string[]
  options: { admin: boolean; name: string; 'move-existing': boolean }
  signal: AbortSignal
}

const COMMANDS: Record<string, (call: Call) => Promise<void>> = { backup, restore: restoreBackup, keys }

/** How long a command waits for a database that is starting. */
const DATABASE_DEADLINE_MS = 10_000

const LOG = {
  info() {},
  warn(_details: object, message: string) {
    process.stderr.write(`${message}\n`)
  },
}

// The image starts every command here, and the server as well, which has its own signals and errors.
if (process.argv[2] === 'start') await import('./server.ts')
else await runCommand()

async function runCommand(): Promise<void> {
  const ending = new AbortController()
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => ending.abort(new Error('Stopped. Nothing was changed.')))
  }
  try {
    const { positionals, values: options } = parseArgs({ allowPositionals: true, options: OPTIONS })
    const [name = '', ...words] = positionals
    const command = COMMANDS[name]
    if (!command) throw new Error(USAGE.trimEnd())
    await command({ config: loadConfig(process.env), words, options, signal: ending.signal })
  } catch (error) {
    const { message } = ending.signal.aborted ? ending.signal.reason : (error as Error)
    process.stderr.write(`${message}\n`)
    process.exitCode = 1
  }
}

async function backup({ config, words, signal }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_dump')
  // Requests come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const file = fileOf(words)
  const { backUp } = await import('./db/embedded/backup.ts')
  const key = await encryptionKeyOf(config)
  const bytes = await backUp({
    dataDir: config.dataDir,
    file,
    about: { version: VERSION, encryptionKey: digestOf(key) },
    log: LOG,
    signal,
  })
  print(`The backup is in ${file} (${Math.ceil(bytes / 2 ** 20)} MB).`)
  if (key) {
    print(
      `It doesn't contain the encryption key. Keep a copy of ${keyNameOf(config)} in another place: without it, stored tokens and secrets can't be decrypted.`,
    )
  }
}

async function restoreBackup({ config, words, options, signal }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_restore')
  const { dataDir } = config
  const file = fileOf(words)
  const { restore } = await import('./db/embedded/restore.ts')
  const movesExisting = options['move-existing']
  const { header, movedTo } = await restore({ dataDir, file, movesExisting, log: LOG, signal })
  print(`Restored the database in ${resolve(dataDir)}, as it was at ${header.createdAt}.`)
  if (movedTo) print(`The previous database is in ${movedTo}.`)
  print(
    'The next start turns off what Inlet sends to other systems, such as write-back. You can turn it on again.',
  )
  const key = digestOf(await encryptionKeyOf(config))
  if (header.encryptionKey !== null && header.encryptionKey !== key) {
    print(
      `${keyNameOf(config)} ${key ? 'is not the key that the backup was made with' : 'is missing'}. Before you start Inlet, put the key of the backup there: without it, stored tokens and secrets can't be decrypted.`,
    )
  }
}

/** On a database that no instance has used, it does what the first start does. */
async function keys({ config, words, options, signal }: Call): Promise<void> {
  const name = options.name.trim()
  if (words.join(' ') !== 'create' || !options.admin) throw new Error(USAGE.trimEnd())
  if (name.length < 1 || name.length > 100) throw new Error('--name must have 1 to 100 characters.')
  const { dataDir, databasePool: size, webhookSecret } = config
  const databaseUrl = config.databaseDirectUrl ?? config.databaseUrl
  const { startExisting } = await import('./db/embedded/index.ts')
  const { openDatabase } = await import('./db/pool.ts')
  const { migrate } = await import('./db/migrate.ts')
  const { retryUntilDeadline } = await import('./db/retry.ts')
  const { repositories } = await import('./repositories/index.ts')
  const { createAdminKey, setUp } = await import('./services/setup.ts')
  const server = databaseUrl ? undefined : await startExisting({ dataDir, log: LOG })
  const connectionString = databaseUrl ?? server?.connectionString ?? ''
  const db = openDatabase({ connectionString, size, onError() {} })
  const deps = { repos: repositories(db), clock: systemClock(), randomBytes }
  try {
    await retryUntilDeadline(() => migrate(connectionString, { prepare }), {
      database: databaseNames(config).sessions,
      deadlineMs: DATABASE_DEADLINE_MS,
      signal,
      onWait: (reason) => LOG.warn({}, `Waiting for the database: ${reason}`),
    })
  } finally {
    await db.$client.end()
    await server?.stop()
  }

  async function prepare() {
    const hasWebhookSecret = webhookSecret !== undefined
    const first = await setUp({ ...deps, bootstrapKey: undefined, hasWebhookSecret })
    const adminKey = first.adminKey ?? (await createAdminKey({ ...deps, name }))
    process.stdout.write(shownOnce({ ...first, adminKey }))
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function refuseOtherDatabase({ databaseUrl }: Config, program: string): void {
  if (databaseUrl === undefined) return
  throw new Error(`This is for the embedded database only, and DATABASE_URL is set. Use ${program}.`)
}

/** npm runs scripts in the folder of package.json, whatever the current one was. */
function fileOf([file, ...others]: string[]): string {
  if (!file || others.length > 0) throw new Error(USAGE.trimEnd())
  const { npm_lifecycle_event: isNpm, INIT_CWD: folder } = process.env
  return resolve(isNpm && folder ? folder : '.', file)
}

async function encryptionKeyOf({ encryptionKey, dataDir }: Config): Promise<Buffer | undefined> {
  return encryptionKey ?? findEncryptionKey(dataDir)
}

function keyNameOf({ encryptionKey, dataDir }: Config): string {
  return encryptionKey ? 'ENCRYPTION_KEY' : encryptionKeyFile(resolve(dataDir))
}

function digestOf(key: Buffer | undefined): string | null {
  return key ? hash('sha256', key) : null
}
