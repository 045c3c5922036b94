import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { outputOf } from './commands.ts'
import { freePort } from './free-port.ts'
import { fetchFromMaven } from './maven.ts'
import { CLIENT } from './oidc-provider.ts'

export type Keycloak = Awaited<ReturnType<typeof startKeycloak>>
export type Realm = Awaited<ReturnType<Keycloak['addRealm']>>

/** Of everybody at Keycloak. */
export const PASSWORD = 'a password of Keycloak'

const ARCHIVE = {
  path: 'org/keycloak/keycloak-quarkus-dist/26.7.3/keycloak-quarkus-dist-26.7.3.tar.gz',
  sha256: '77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47',
}

const START_MS = 5 * 60_000

const ADMIN = { username: 'admin', password: randomUUID() }

/** The archive of Keycloak, or why there is none on this machine. */
export async function fetchKeycloak(): Promise<{ archive: string } | { unavailable: string }> {
  if (spawnSync('java', ['-version']).error) return { unavailable: 'Java is not installed.' }
  return fetchFromMaven(ARCHIVE)
}

/** A Keycloak in development mode, with its database in memory. It needs about 560 MB. */
export async function startKeycloak(archive: string) {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-keycloak-'))
  await promisify(execFile)('tar', ['xzf', archive, '-C', folder, '--strip-components=1'])
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  let running: { child: ChildProcessByStdio<null, Readable, Readable>; ended: Promise<unknown> } | undefined

  async function start(): Promise<void> {
    const options = ['--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`, '--log-level=warn']
    const pages = ['--spi-theme--cache-themes=true', '--spi-theme--cache-templates=true']
    const child = spawn(join(folder, 'bin/kc.sh'), ['start-dev', ...options, ...pages], {
      env: {
        PATH: process.env.PATH,
        KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
        // It runs for a minute: what compiles longer is not worth it.
        JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { ended, output } = outputOf(child)
    running = { child, ended }
    let isRunning = true
    void ended.then(() => {
      isRunning = false
    })
    const deadline = AbortSignal.timeout(START_MS)
    while (!(await fetch(`${origin}/realms/master`, { signal: deadline }).catch(() => undefined))?.ok) {
      if (!isRunning || deadline.aborted) throw new Error(`Keycloak did not start:\n${output()}`)
      await sleep(100)
    }
  }

  async function stop(): Promise<void> {
    const { child, ended } = running ?? {}
    running = undefined
    // The script passes it on.
    child?.kill('SIGTERM')
    await ended
  }

  async function close(): Promise<void> {
    await stop()
    await rm(folder, { recursive: true })
  }

  await start().catch(async (error) => {
    await close()
    throw error
  })
  return {
    stop,
    close,

    /** A realm of its own, as an administrator makes it. Starts Keycloak if it was stopped. */
    async addRealm() {
      if (!running) await start()
      const name = randomUUID()
      const admin = adminOf(origin)
      await admin('POST', '/realms', { realm: name, enabled: true, clients: [INLET] })
      return { issuer: `${origin}/realms/${name}`, ...administrationOf(admin, `/realms/${name}`) }
    },
  }
}

/** As docs/people.md says: confidential, and the names of groups without their path. */
const INLET = {
  clientId: CLIENT.clientId,
  secret: CLIENT.clientSecret,
  publicClient: false,
  redirectUris: [],
  protocolMappers: [
    {
      name: 'groups',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-group-membership-mapper',
      config: {
        'claim.name': 'groups',
        'full.path': 'false',
        'id.token.claim': 'true',
        'userinfo.token.claim': 'true',
      },
    },
  ],
}

interface KeycloakUser {
  username: string
  name: [first: string, last: string]
  groups?: string[]
}

type Admin = ReturnType<typeof adminOf>

const administrationOf = (admin: Admin, realm: string) => ({
  /** Allows the client to be returned to. */
  async register(redirectUrl: string): Promise<void> {
    const [client] = await admin('GET', `${realm}/clients?clientId=${CLIENT.clientId}`)
    await admin('PUT', `${realm}/clients/${client.id}`, { ...client, redirectUris: [redirectUrl] })
  },

  /** Adds somebody with a verified address at acme.com. */
  async addUser({ username, name: [firstName, lastName], groups = [] }: KeycloakUser): Promise<void> {
    await admin('POST', `${realm}/users`, {
      ...{ username, firstName, lastName, enabled: true },
      ...{ email: `${username}@acme.com`, emailVerified: true },
      credentials: [{ type: 'password', value: PASSWORD, temporary: false }],
    })
    await this.setGroups(username, groups)
  },

  /** Puts somebody into these groups and no others. */
  async setGroups(username: string, groups: string[]): Promise<void> {
    const [user] = await admin('GET', `${realm}/users?username=${username}&exact=true`)
    const existing: { id: string; name: string }[] = await admin('GET', `${realm}/groups`)
    const membership = (id: string) => `${realm}/users/${user.id}/groups/${id}`
    for (const { id, name } of existing) if (!groups.includes(name)) await admin('DELETE', membership(id))
    for (const name of groups) {
      if (!existing.some((group) => group.name === name)) await admin('POST', `${realm}/groups`, { name })
      const all: typeof existing = await admin('GET', `${realm}/groups`)
      await admin('PUT', membership(all.find((group) => group.name === name)?.id ?? ''))
    }
  },

  /** Signs with a new key from now on, and disables those before. */
  async replaceKeys(): Promise<void> {
    const type = 'org.keycloak.keys.KeyProvider'
    const components = await admin('GET', `${realm}/components?type=${type}`)
    const config = { priority: ['1000'], algorithm: ['RS256'] }
    const added = { name: 'new', providerId: 'rsa-generated', providerType: type, config }
    await admin('POST', `${realm}/components`, added)
    for (const old of components) {
      if (old.providerId !== 'rsa-generated') continue
      const disabled = { ...old.config, enabled: ['false'], active: ['false'] }
      await admin('PUT', `${realm}/components/${old.id}`, { ...old, config: disabled })
    }
  },
})

/** Calls Keycloak's Admin REST API. A token lasts a minute, so each call has its own. */
const adminOf =
  (origin: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: the API has types in Java alone.
  async (method: string, path: string, body?: object): Promise<any> => {
    const grant = { grant_type: 'password', client_id: 'admin-cli', ...ADMIN }
    const granted = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(grant),
    })
    const { access_token: token } = (await granted.json()) as { access_token: string }
    const response = await fetch(`${origin}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text && JSON.parse(text)
  }
