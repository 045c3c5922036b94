import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

interface CreationOptions {
  challenge: string
  rp: { id: string }
  user: { id: string }
}

interface RequestOptions {
  challenge: string
  rpId: string
}

/** What a browser or an authenticator does otherwise than it should. */
export interface Deviation {
  /** Of the page. */
  origin?: string
  rpId?: string
  challenge?: string
  userHandle?: string
  isUserVerified?: boolean
  counter?: number
}

interface Credential {
  id: string
  userHandle: string
  privateKey: KeyObject
}

const FLAGS = { isPresent: 0x01, isVerified: 0x04, hasCredential: 0x40 }

export type Authenticator = ReturnType<typeof authenticator>

/** An authenticator with one credential, and the browser that asks it, on a page of this origin. */
export function authenticator(pageOrigin: string) {
  let credential: Credential | undefined
  let counter = 0

  return {
    /** Creates its credential, as `navigator.credentials.create()` does. */
    create({ challenge, rp, user }: CreationOptions, deviation: Deviation = {}) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const id = randomBytes(32)
      credential = { id: id.toString('base64url'), userHandle: user.id, privateKey }
      counter = 0
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const about = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)])
      const authData = dataOf({ rpId: rp.id, counter, about, ...deviation })
      const attestation = encode(
        new Map<string, Value>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      )
      return {
        id: credential.id,
        rawId: credential.id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', { challenge, origin: pageOrigin, ...deviation }),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal', 'hybrid'],
        },
      }
    },

    /** Signs a challenge with its credential, as `navigator.credentials.get()` does. */
    get({ challenge, rpId }: RequestOptions, deviation: Deviation = {}) {
      if (!credential) throw new Error('It has no credential.')
      counter = deviation.counter ?? counter + 1
      const authData = dataOf({ rpId, counter, ...deviation })
      const clientDataJSON = clientData('webauthn.get', { challenge, origin: pageOrigin, ...deviation })
      const hash = sha256(Buffer.from(clientDataJSON, 'base64url'))
      const signature = sign('sha256', Buffer.concat([authData, hash]), credential.privateKey)
      return {
        id: credential.id,
        rawId: credential.id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON,
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: deviation.userHandle ?? credential.userHandle,
        },
      }
    },
  }
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

const clientData = (type: string, { challenge, origin }: { challenge: string; origin: string }): string =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url')

interface AuthenticatorData {
  rpId: string
  counter: number
  isUserVerified?: boolean
  /** The credential that was created. */
  about?: Buffer
}

function dataOf({ rpId, counter, isUserVerified = true, about }: AuthenticatorData): Buffer {
  const rest = Buffer.alloc(5)
  const verified = isUserVerified ? FLAGS.isVerified : 0
  rest.writeUInt8(FLAGS.isPresent | verified | (about ? FLAGS.hasCredential : 0))
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(rpId), rest, about ?? Buffer.alloc(0)])
}

/** The public key of ES256 as a COSE key. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return encode(
    new Map<number, Value>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  )
}

type Value = number | string | Buffer | Map<number | string, Value>

/** The little of CBOR that is needed here. */
function encode(value: Value): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flat().map(encode)])
}

function head(type: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(type << 5) | count])
  return count < 256
    ? Buffer.from([(type << 5) | 24, count])
    : Buffer.from([(type << 5) | 25, count >> 8, count & 0xff])
}
