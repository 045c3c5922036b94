import type { Config } from '../config.ts'

const USAGE = `Usage:
  npm run keys -- create --admin [--name NAME]    Creates an admin key, and shows it once.
  npm run keys -- rotate-encryption               Encrypts stored tokens and secrets with a new key.
  npm run users -- list                           Lists people who can sign in.
  npm run users -- invite --name NAME [--role member]
                                                  Invites a person, and shows the secret once.
  npm run users -- deactivate USERNAME            Ends the sessions of a person, who can't sign in any more.
  npm run backup -- FILE                          Backs up the embedded database, also while Inlet runs.
  npm run restore -- FILE [--move-existing]       Restores it. --move-existing renames a database that is there.
  npm run after-restore                           Does what the first start after a restore does: for snapshots.
In containers, which have no npm: docker compose run --rm inlet keys create --admin, and so on.`

export const OPTIONS = {
  admin: { type: 'boolean', default: false },
  name: { type: 'string' },
  role: { type: 'string', default: 'member' },
  'move-existing': { type: 'boolean', default: false },
} as const

/** What a command gets. */
export interface Call {
  config: Config
  /** The arguments after the command. */
  words: string[]
  /** Where relative files are. */
  folder: string
  options: { admin: boolean; name?: string; role: string; 'move-existing': boolean }
  /** Aborted by a signal to the process. */
  signal: AbortSignal
}

export const usage = () => new Error(USAGE)

/** Of what Node says, only the first sentence: the others are for programs that take any word. */
export const refusedOption = (message: string) => new Error(`${message.split('. ')[0]}.\n${USAGE}`)

const MAX_NAME = 100

/** @throws Error for a name that is too long, or empty */
export function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= MAX_NAME) return trimmed
  throw new Error(`--name must have 1 to ${MAX_NAME} characters.`)
}

/** @throws Error with the usage */
export function refuseWords(words: string[]): void {
  if (words.length > 0) throw usage()
}

export const LOG = {
  info() {},
  warn(_details: object, message: string) {
    process.stderr.write(`${message}\n`)
  },
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
