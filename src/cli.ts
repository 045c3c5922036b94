import { hash } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, loadConfig } from './config.ts'
import { backUp } from './db/embedded/backup.ts'
import { encryptionKeyFile, findEncryptionKey } from './db/embedded/encryption-key.ts'
import { restore } from './db/embedded/restore.ts'
import { VERSION } from './lib/version.ts'

const USAGE = `Usage:
  npm run backup -- FILE                       Backs up the embedded database, also while Inlet runs.
  npm run restore -- FILE [--move-existing]    Restores it. --move-existing renames a database that is there.
`

/** What a command gets. */
interface Call {
  config: Config
  /** The arguments after the command. */
  words: string[]
  movesExisting: boolean
  signal: AbortSignal
}

const COMMANDS: Record<string, (call: Call) => Promise<void>> = { backup, restore: restoreBackup }

const LOG = {
  info() {},
  warn(_details: object, message: string) {
    process.stderr.write(`${message}\n`)
  },
}

const ending = new AbortController()
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => ending.abort(new Error('Stopped. Nothing was changed.')))
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'move-existing': { type: 'boolean', default: false } },
  })
  const [name = '', ...words] = positionals
  const command = COMMANDS[name]
  if (!command) throw new Error(USAGE.trimEnd())
  const config = loadConfig(process.env)
  await command({ config, words, movesExisting: values['move-existing'], signal: ending.signal })
} catch (error) {
  const { message } = ending.signal.aborted ? ending.signal.reason : (error as Error)
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

async function backup({ config, words, signal }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_dump')
  // Requests come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const file = fileOf(words)
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

async function restoreBackup({ config, words, movesExisting, signal }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_restore')
  const { dataDir } = config
  const { header, movedTo } = await restore({ dataDir, file: fileOf(words), movesExisting, log: LOG, signal })
  print(`Restored the database in ${resolve(dataDir)}, as it was at ${header.createdAt}.`)
  if (movedTo) print(`The previous database is in ${movedTo}.`)
  print('Write-back to code hosts is off after the next start, until you turn it on for each project.')
  const key = digestOf(await encryptionKeyOf(config))
  if (header.encryptionKey !== null && header.encryptionKey !== key) {
    print(
      `${keyNameOf(config)} ${key ? 'is not the key that the backup was made with' : 'is missing'}. Before you start Inlet, put the key of the backup there: without it, stored tokens and secrets can't be decrypted.`,
    )
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
