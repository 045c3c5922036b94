import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import type { HostToken } from './code-host.ts'
import { type HostResponse, refused } from './code-host-responses.ts'

const TOKEN_SECONDS = 3_600
/** The host takes no JWT that is valid for longer. */
const MAX_JWT_SECONDS = 600

interface Installation {
  appId: number
  publicKey: KeyObject
  state: 'active' | 'suspended' | 'uninstalled'
  permissions: HostToken
  /** How far its clock is ahead of ours. */
  aheadSeconds: number
  /** Time that passed for tokens only, and not for our clock. */
  elapsedSeconds: number
}

/** The GitHub Apps of the fake code host: each with one installation, a key, and tokens that expire by its clock. */
export function hostApps() {
  const installations = new Map<number, Installation>()
  const tokens = new Map<string, { installation: Installation; permissions: HostToken; expiresAt: number }>()
  const clockOf = ({ aheadSeconds }: Installation) => Math.floor(Date.now() / 1_000) + aheadSeconds
  const ageClockOf = (installation: Installation) => clockOf(installation) + installation.elapsedSeconds

  return {
    create(permissions: HostToken = {}, { appId = 500 + installations.size } = {}) {
      const installationId = 9_000_000 + installations.size
      const { publicKey, privateKey } = generateKeyPairSync('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        // As GitHub's files have it.
        privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      })
      const installation: Installation = {
        appId,
        publicKey: createPublicKey(publicKey),
        state: 'active',
        permissions,
        aheadSeconds: 0,
        elapsedSeconds: 0,
      }
      installations.set(installationId, installation)
      return {
        appId,
        installationId,
        privateKey,
        /** The state, the permissions and the clock may change at any time. */
        installation,
      }
    },

    /** The permissions that an installation's token was created with; undefined if it is unknown or has expired. */
    token(credential: string): HostToken | 'suspended' | undefined {
      const token = tokens.get(credential)
      if (!token || token.installation.state === 'uninstalled') return undefined
      if (token.expiresAt <= ageClockOf(token.installation)) return undefined
      return token.installation.state === 'suspended' ? 'suspended' : token.permissions
    },

    newToken(installationId: number, authorization = ''): HostResponse {
      const [header = '', payload = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.')
      const claims = jsonOf(payload)
      const app = [...installations.values()].find(({ appId }) => appId === claims.iss)
      if (!app) return refused(404, 'Integration not found')
      const now = clockOf(app)
      const date = { date: new Date(now * 1_000).toUTCString() }
      const signed = Buffer.from(`${header}.${payload}`)
      const isSigned =
        jsonOf(header).alg === 'RS256' &&
        verify('sha256', signed, app.publicKey, Buffer.from(signature, 'base64url'))
      if (!isSigned) return refused(401, 'A JSON web token could not be decoded', date)
      const { iat, exp } = claims as { iat: number; exp: number }
      if (!(exp > now)) return refused(401, EXPIRED, date)
      if (exp > now + MAX_JWT_SECONDS) return refused(401, TOO_FAR, date)
      if (!(iat <= now)) return refused(401, ISSUED_LATER, date)
      const installation = installations.get(installationId)
      if (installation?.appId !== app.appId || installation.state === 'uninstalled') {
        return refused(404, 'Not Found', date)
      }
      if (installation.state === 'suspended')
        return refused(403, 'This installation has been suspended', date)
      const token = `ghs_${installationId}_${tokens.size + 1}`
      const expiresAt = now + TOKEN_SECONDS
      const { permissions } = installation
      tokens.set(token, {
        installation,
        permissions: { ...permissions, isApp: true },
        expiresAt: expiresAt + installation.elapsedSeconds,
      })
      const access = permissions.canWriteIssues === false ? 'read' : 'write'
      const body = {
        token,
        expires_at: `${new Date(expiresAt * 1_000).toISOString().slice(0, 19)}Z`,
        permissions: { issues: access, pull_requests: access, metadata: 'read' },
        repository_selection: permissions.repositories ? 'selected' : 'all',
      }
      return { status: 201, headers: date, body: JSON.stringify(body) }
    },
  }
}

const EXPIRED =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
const TOO_FAR = "'Expiration time' claim ('exp') is too far in the future"
const ISSUED_LATER =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"

function jsonOf(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return {}
  }
}
