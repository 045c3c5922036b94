import { isIP } from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readTraceConfig, TRACE_VARIABLES } from './trace-config.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** One or more addresses without query, separated by commas. */
const API_URLS =
  '^\\s*https?://[^\\s/?#,@]+(/[^\\s?#,@]*)?(\\s*,\\s*https?://[^\\s/?#,@]+(/[^\\s?#,@]*)?)*\\s*$'

/** Host names or addresses, each with or without a port, separated by commas. */
const HOSTS = '^\\s*([^\\s/?#,@]+(\\s*,\\s*[^\\s/?#,@]+)*\\s*)?$'

/** https, or http to this machine; without user, query and fragment. */
const ISSUER = '^(https://[^\\s/?#@]+|http://(localhost|127(\\.\\d+){3}|\\[::1\\])(:\\d+)?)(/[^\\s?#]*)?$'

/** 32 bytes, hexadecimal or in base64. */
const ENCRYPTION_KEY = '^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$'

/** The environment. Nothing is required; `.env.example` explains each variable. */
const ENVIRONMENT = {
  type: 'object',
  properties: {
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 3000 },
    HOST: { type: 'string', default: '127.0.0.1' },
    PUBLIC_URL: { type: 'string', pattern: '^https?://[^/?#]+/?$' },
    TRUST_PROXY: { type: 'string', format: 'trust-proxy', default: 'false' },
    LOG_LEVEL: { type: 'string', enum: LOG_LEVELS, default: 'info' },
    DATABASE_URL: { type: 'string', pattern: '^postgres(ql)?://' },
    DATABASE_DIRECT_URL: { type: 'string', pattern: '^postgres(ql)?://' },
    DATABASE_POOL: { type: 'integer', minimum: 2, maximum: 500, default: 10 },
    DATA_DIR: { type: 'string', default: './data' },
    BOOTSTRAP_API_KEY: { type: 'string', minLength: 32, maxLength: 255, pattern: '^[!-~]*$' },
    WEBHOOK_SECRET: { type: 'string', minLength: 16, maxLength: 255, pattern: '^[!-~]*$' },
    WEBHOOK_PORT: { type: 'integer', minimum: 0, maximum: 65_535 },
    WEBHOOK_HOST: { type: 'string' },
    CODEHOST_API_URLS: { type: 'string', pattern: API_URLS, default: 'https://api.github.com' },
    CODEHOST_TOKEN: { type: 'string', maxLength: 500, pattern: '^[!-~]*$' },
    ENCRYPTION_KEY: { type: 'string', pattern: ENCRYPTION_KEY },
    ENCRYPTION_KEY_PREVIOUS: { type: 'string', pattern: ENCRYPTION_KEY },
    WEBHOOK_ALLOW_HOSTS: { type: 'string', pattern: HOSTS, default: '' },
    PASSWORD_SIGN_IN: { type: 'string', enum: ['on', 'off'], default: 'on' },
    KEY_SIGN_IN: { type: 'string', enum: ['all', 'admin'], default: 'all' },
    OIDC_ISSUER: { type: 'string', maxLength: 255, pattern: ISSUER },
    OIDC_CLIENT_ID: { type: 'string', maxLength: 255 },
    OIDC_CLIENT_SECRET: { type: 'string', maxLength: 1_000, pattern: '^[!-~]*$' },
    RATE_LIMIT_PER_MINUTE: { type: 'integer', minimum: 0, default: 600 },
    RATE_LIMIT_RECEIVER_PER_MINUTE: { type: 'integer', minimum: 0, default: 60_000 },
    RATE_LIMIT_FAILURES_PER_MINUTE: { type: 'integer', minimum: 0, default: 20 },
  },
  dependentRequired: { DATABASE_DIRECT_URL: ['DATABASE_URL'] },
} as const

/** The names of all variables. */
export const VARIABLES: string[] = [...Object.keys(ENVIRONMENT.properties), ...TRACE_VARIABLES]

/** The valid values of each variable, for error messages. */
const EXPECTED: Record<keyof typeof ENVIRONMENT.properties, string> = {
  PORT: 'a port number, 0 to 65535',
  HOST: 'an address to listen on, such as 127.0.0.1',
  PUBLIC_URL: 'the public URL without a path, such as https://inlet.example.com',
  TRUST_PROXY:
    'false, true for one proxy, a number of proxies from 1 to 10, or networks of proxies separated by commas, such as 10.0.0.0/8,loopback',
  LOG_LEVEL: `one of ${LOG_LEVELS.join(', ')}`,
  DATABASE_URL: 'a PostgreSQL URL, such as postgres://user:password@host:5432/inlet',
  DATABASE_DIRECT_URL:
    'a PostgreSQL URL that leads to the database of DATABASE_URL without a connection pooler, such as postgres://user:password@host:5432/inlet',
  DATABASE_POOL: 'a number of database connections, 2 to 500',
  DATA_DIR: 'a directory for the embedded database',
  BOOTSTRAP_API_KEY: '32 to 255 printable ASCII characters without spaces',
  WEBHOOK_SECRET: '16 to 255 printable ASCII characters without spaces',
  WEBHOOK_PORT: 'a port number, 0 to 65535',
  WEBHOOK_HOST: 'an address to listen on, such as 0.0.0.0',
  CODEHOST_API_URLS:
    'API URLs of code hosts, separated by commas, such as https://api.github.com,https://git.example.com/api/v3',
  CODEHOST_TOKEN: 'at most 500 printable ASCII characters without spaces',
  ENCRYPTION_KEY: '32 bytes as 64 hexadecimal digits or in base64; create one with openssl rand -hex 32',
  ENCRYPTION_KEY_PREVIOUS: 'a key like ENCRYPTION_KEY, the one from before',
  WEBHOOK_ALLOW_HOSTS:
    'host names or addresses, with or without a port, separated by commas, such as chat.internal,10.0.0.7:8080',
  PASSWORD_SIGN_IN: 'on or off',
  KEY_SIGN_IN: 'all or admin',
  OIDC_ISSUER: 'the https issuer of an identity provider, such as https://login.example.com',
  OIDC_CLIENT_ID: 'the client ID at the identity provider, at most 255 characters',
  OIDC_CLIENT_SECRET: 'the client secret, at most 1,000 printable ASCII characters without spaces',
  RATE_LIMIT_PER_MINUTE: 'the number of requests allowed for each key and minute, or 0 for no limit',
  RATE_LIMIT_RECEIVER_PER_MINUTE: 'the number of feedback events allowed for each minute, or 0 for no limit',
  RATE_LIMIT_FAILURES_PER_MINUTE:
    'the number of failed authentications allowed for each address and minute, or 0 for no limit',
}

export type Config = Readonly<ReturnType<typeof loadConfig>>

/**
 * Reads and checks the environment, once. An empty variable counts as absent.
 * @throws Error with every invalid variable and what is expected; never with a value, which may be a secret.
 */
export function loadConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(
    Object.keys(ENVIRONMENT.properties).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const check = new Ajv2020({
    allErrors: true,
    coerceTypes: true,
    useDefaults: true,
    // Checking this schema itself would take 40 ms of each start.
    meta: false,
    validateSchema: false,
  })
    .addFormat('trust-proxy', (text) => isHops(text) || isNetworks(text))
    .compile<Environment>(ENVIRONMENT)
  const { traces, invalid } = readTraceConfig(env)
  if (!check(given) || invalid.length > 0) {
    const lines = (check.errors ?? []).map(({ instancePath, keyword }) => {
      if (keyword === 'dependentRequired')
        return '  DATABASE_DIRECT_URL must be set together with DATABASE_URL'
      const name = instancePath.slice(1)
      return `  ${name} must be ${EXPECTED[name as keyof typeof EXPECTED]}`
    })
    throw new Error(`Invalid environment variables:\n${[...new Set(lines), ...invalid].join('\n')}`)
  }
  if (given.ENCRYPTION_KEY_PREVIOUS && given.DATABASE_URL && !given.ENCRYPTION_KEY) {
    throw new Error('ENCRYPTION_KEY_PREVIOUS only decrypts. Set ENCRYPTION_KEY as well.')
  }
  const oidc = [given.OIDC_ISSUER, given.OIDC_CLIENT_ID, given.OIDC_CLIENT_SECRET]
  const [issuer, clientId, clientSecret] = oidc
  const isGiven = issuer && clientId && clientSecret
  if (!isGiven && oidc.some((text) => text !== undefined)) {
    throw new Error('OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together.')
  }
  return Object.freeze({
    port: given.PORT,
    host: given.HOST,
    publicUrl: given.PUBLIC_URL?.replace(/\/$/, ''),
    trustProxy: trustOf(given.TRUST_PROXY),
    logLevel: given.LOG_LEVEL,
    databaseUrl: given.DATABASE_URL,
    databaseDirectUrl: given.DATABASE_DIRECT_URL,
    databasePool: given.DATABASE_POOL,
    dataDir: given.DATA_DIR,
    bootstrapApiKey: given.BOOTSTRAP_API_KEY,
    webhookSecret: given.WEBHOOK_SECRET,
    webhookPort: given.WEBHOOK_PORT,
    webhookHost: given.WEBHOOK_HOST ?? given.HOST,
    codehostApiUrls: given.CODEHOST_API_URLS.split(',').map((url) =>
      (URL.parse(url)?.href ?? url).replace(/\/+$/, ''),
    ),
    codehostToken: given.CODEHOST_TOKEN,
    encryptionKey: keyBytes(given.ENCRYPTION_KEY),
    previousEncryptionKey: keyBytes(given.ENCRYPTION_KEY_PREVIOUS),
    webhookAllowHosts: given.WEBHOOK_ALLOW_HOSTS.split(',').flatMap(
      (host) => host.trim().toLowerCase() || [],
    ),
    signIn: {
      password: given.PASSWORD_SIGN_IN === 'on',
      keys: given.KEY_SIGN_IN,
      maxWrongPasswords: given.RATE_LIMIT_FAILURES_PER_MINUTE,
    },
    /** Undefined: there is none beside those in the database. */
    identityProvider: isGiven ? { issuer, clientId, clientSecret } : undefined,
    rateLimitPerMinute: given.RATE_LIMIT_PER_MINUTE,
    rateLimitReceiverPerMinute: given.RATE_LIMIT_RECEIVER_PER_MINUTE,
    rateLimitFailuresPerMinute: given.RATE_LIMIT_FAILURES_PER_MINUTE,
    /** Undefined: no traces. */
    traces,
  })
}

const isHops = (text: string) => /^(true|false|[1-9]|10)$/.test(text)

const isNetworks = (text: string) =>
  text.split(',').every((part) => {
    const [address = '', bits, ...rest] = part.trim().split('/')
    if (['loopback', 'linklocal', 'uniquelocal'].includes(part.trim())) return true
    const maxBits = { 4: 32, 6: 128 }[isIP(address)]
    const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (maxBits ?? 0))
    return maxBits !== undefined && isPrefix && rest.length === 0
  })

/**
 * Fastify's `trustProxy`: whether the sender that many hops before this server is one of our proxies. `true` is one
 * hop, because with more a client could choose its own address. Fastify rejects a plain number, so it is a function.
 */
function trustOf(text: string) {
  if (text === 'false') return false
  if (!isHops(text)) return text
  const hops = text === 'true' ? 1 : Number(text)
  return (_address: string, hop: number) => hop < hops
}

const keyBytes = (text: string | undefined) =>
  text === undefined ? undefined : Buffer.from(text, text.length === 64 ? 'hex' : 'base64')

interface Environment {
  PORT: number
  HOST: string
  PUBLIC_URL?: string
  TRUST_PROXY: string
  LOG_LEVEL: string
  DATABASE_URL?: string
  DATABASE_DIRECT_URL?: string
  DATABASE_POOL: number
  DATA_DIR: string
  BOOTSTRAP_API_KEY?: string
  WEBHOOK_SECRET?: string
  WEBHOOK_PORT?: number
  WEBHOOK_HOST?: string
  CODEHOST_API_URLS: string
  CODEHOST_TOKEN?: string
  ENCRYPTION_KEY?: string
  ENCRYPTION_KEY_PREVIOUS?: string
  WEBHOOK_ALLOW_HOSTS: string
  PASSWORD_SIGN_IN: 'on' | 'off'
  KEY_SIGN_IN: 'all' | 'admin'
  OIDC_ISSUER?: string
  OIDC_CLIENT_ID?: string
  OIDC_CLIENT_SECRET?: string
  RATE_LIMIT_PER_MINUTE: number
  RATE_LIMIT_RECEIVER_PER_MINUTE: number
  RATE_LIMIT_FAILURES_PER_MINUTE: number
}
