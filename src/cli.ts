import { parseArgs } from 'node:util'
import { type Call, OPTIONS, refusedOption, usage } from './commands/call.ts'
import { loadConfig } from './config.ts'

interface Command {
  /** Loads the code, which a server in the image doesn't need. */
  load(): Promise<(call: Call) => Promise<void>>
  /** What a signal leaves behind. */
  stopped?: string
}

const COMMANDS: Record<string, Command> = {
  'keys create': { load: async () => (await import('./commands/create-key.ts')).createKey },
  'keys rotate-encryption': {
    load: async () => (await import('./commands/rotate-encryption.ts')).rotateEncryption,
    stopped: 'Stopped. Everything can still be decrypted. Run it again to complete it.',
  },
  'users list': { load: async () => (await import('./commands/users.ts')).listUsers },
  'users invite': { load: async () => (await import('./commands/users.ts')).inviteUser },
  'users deactivate': { load: async () => (await import('./commands/users.ts')).deactivateUser },
  backup: { load: async () => (await import('./commands/backup.ts')).backup },
  restore: { load: async () => (await import('./commands/backup.ts')).restoreBackup },
  'after-restore': { load: async () => (await import('./commands/after-restore.ts')).switchOff },
}

// The image starts every command here, and the server as well, which has its own signals and errors.
if (process.argv[2] === 'start') await import('./start.ts')
else await runCommand()

async function runCommand(): Promise<void> {
  const ending = new AbortController()
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => ending.abort(new Error('It was stopped.')))
  }
  let stopped = 'Stopped. Nothing was changed.'
  try {
    const { positionals, values: options } = parsedArguments()
    const length = ['keys', 'users'].includes(positionals[0] ?? '') ? 2 : 1
    const command = COMMANDS[positionals.slice(0, length).join(' ')]
    if (!command) throw usage()
    stopped = command.stopped ?? stopped
    const run = await command.load()
    await run({
      config: loadConfig(process.env),
      words: positionals.slice(length),
      folder: folderOfCaller(),
      options,
      signal: ending.signal,
    })
  } catch (error) {
    process.stderr.write(`${ending.signal.aborted ? stopped : (error as Error).message}\n`)
    process.exitCode = 1
  }
}

function parsedArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw refusedOption((error as Error).message)
  }
}

/** npm runs scripts in the folder of package.json, whatever the current one was. */
function folderOfCaller(): string {
  const { npm_lifecycle_event: isNpm, INIT_CWD: folder } = process.env
  return isNpm && folder ? folder : '.'
}
