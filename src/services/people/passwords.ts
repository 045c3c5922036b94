import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { rateLimited } from '../../errors/index.ts'
import { semaphore } from '../../lib/semaphore.ts'

/** What OWASP recommends for argon2id: 19 MiB and two passes, about 30 ms of a core. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const SALT_BYTES = 16

/** Each takes its memory and a core. */
const CONCURRENCY = 2
/** So many wait at most, for about a second and a half. */
const MAX_WAITING = 100

const derive = promisify(argon2)

export type PasswordHashes = ReturnType<typeof passwordHashes>

/** Hashes passwords with argon2id. Two at a time; further ones wait, and are refused if too many do. */
export function passwordHashes({ randomBytes }: { randomBytes(size: number): Buffer }) {
  const pass = semaphore(CONCURRENCY)
  let waiting = 0
  /** Compared with if there is no password: an unknown name takes as long as a wrong password. */
  const nothing = encode({ salt: randomBytes(SALT_BYTES), tag: randomBytes(PARAMETERS.tagLength) })

  return {
    /** @throws rate_limited */
    async hash(password: string): Promise<string> {
      const salt = randomBytes(SALT_BYTES)
      return encode({ salt, tag: await tagOf(password, salt) })
    },

    /** @throws rate_limited */
    async matches(password: string, hash: string | undefined): Promise<boolean> {
      const { salt, tag } = decode(hash ?? nothing)
      const isEqual = timingSafeEqual(await tagOf(password, salt), tag)
      return isEqual && hash !== undefined
    },
  }

  async function tagOf(password: string, nonce: Buffer): Promise<Buffer> {
    if (waiting >= CONCURRENCY + MAX_WAITING) throw rateLimited(1)
    waiting++
    try {
      // Keyboards differ in how they compose a character.
      const message = Buffer.from(password.normalize('NFC'))
      return await pass(() => derive('argon2id', { ...PARAMETERS, message, nonce }))
    } finally {
      waiting--
    }
  }
}

const { memory, passes, parallelism } = PARAMETERS
const PREFIX = `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$`

/** As others store it, with the parameters. */
const encode = ({ salt, tag }: { salt: Buffer; tag: Buffer }) => `${PREFIX}${base64(salt)}$${base64(tag)}`

function decode(hash: string): { salt: Buffer; tag: Buffer } {
  const [salt = '', tag = ''] = hash.slice(PREFIX.length).split('$')
  return { salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
