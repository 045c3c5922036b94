import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { ApiResponse } from './app.ts'
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts'
import { freePort } from './free-port.ts'
import { sendRaw } from './raw.ts'
import { collectEvents, type Listener } from './stream.ts'

/** The name in the certificate. */
const HOST = 'receiver.test'
/** Of each instance. */
export const PUBLIC_URL = `https://${HOST}`

/** The files that operators copy. */
const FILES = fileURLToPath(new URL('../../docs/proxy/', import.meta.url))

interface ProxyRequest {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
  /** An address of 127.0.0.0/8 for the client. */
  from?: string
}

export interface WebProxy {
  /** The origin that browsers see. */
  origin: string
  /** A request over HTTP/1.1, and a connection of its own. */
  send(request: ProxyRequest): Promise<ApiResponse>
  /** A response of events, over HTTP/2 as in browsers. */
  follow(request: ProxyRequest): Promise<Listener>
  /** What the proxy has logged: warnings and errors. */
  log(): string
  stop(): Promise<void>
}

export const PROXIES = { nginx: startNginx, Caddy: startCaddy }

interface Upstreams {
  /** The ports of two instances. */
  ports: [number, number]
}

/** Debian's nginx with docs/proxy/nginx.conf, in which only addresses, ports, and paths are replaced. */
async function startNginx({ ports: [first, second] }: Upstreams): Promise<WebProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-nginx-'))
  const port = await freePort()
  const path = (name: string) => join(folder, name)
  const text = replaceEach(readFileSync(join(FILES, 'nginx.conf'), 'utf8'), {
    '127.0.0.1:3000': `127.0.0.1:${first}`,
    '127.0.0.1:3001': `127.0.0.1:${second}`,
    'listen 80;': `listen 127.0.0.1:${await freePort()};`,
    'listen 443 ': `listen 127.0.0.1:${port} `,
    // Not every machine has IPv6.
    'listen [::]:80;': '',
    'listen [::]:443 ssl http2;': '',
    'server_name inlet.example.com': `server_name ${HOST}`,
    '/etc/ssl/certs/inlet.pem': path('certificate.pem'),
    '/etc/ssl/private/inlet.key': path('key.pem'),
  })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const main = `
    daemon off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    worker_processes 1;
    pid ${path('pid')};
    error_log stderr warn;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${path(name)};`).join('\n')}
      include ${path('inlet.conf')};
    }`
  await writeFile(path('inlet.conf'), text)
  await writeFile(path('nginx.conf'), main)
  await writeFile(path('certificate.pem'), CERTIFICATE)
  await writeFile(path('key.pem'), PRIVATE_KEY)
  const child = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', path('nginx.conf')], {
    env: { PATH: process.env.PATH },
  })
  return started({ child, folder, port, certificate: () => CERTIFICATE })
}

/** Debian's Caddy with docs/proxy/Caddyfile as it is, and an authority of its own for the certificate. */
async function startCaddy({ ports }: Upstreams): Promise<WebProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-caddy-'))
  const port = await freePort()
  const config = join(folder, 'Caddyfile')
  await writeFile(
    config,
    `{
      admin off
      default_bind 127.0.0.1
      auto_https disable_redirects
      local_certs
      skip_install_trust
      log {
        level WARN
      }
    }
    import ${join(FILES, 'Caddyfile')}`,
  )
  const env = {
    PATH: process.env.PATH,
    PUBLIC_URL: `${PUBLIC_URL}:${port}`,
    INLET_UPSTREAMS: `to ${ports.map((each) => `127.0.0.1:${each}`).join(' ')}`,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const child = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], { env })
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt')
  return started({ child, folder, port, certificate: () => existsSync(authority) && readFileSync(authority) })
}

/** The configuration that Caddy makes of docs/proxy/Caddyfile. */
// biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of it.
export function adaptedCaddyfile(given: Record<string, string>): any {
  const args = ['adapt', '--config', join(FILES, 'Caddyfile'), '--adapter', 'caddyfile']
  const env = { PATH: process.env.PATH, ...given }
  return JSON.parse(execFileSync('caddy', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))
}

interface Started {
  child: ChildProcess
  folder: string
  port: number
  /** What signs the certificate; false while there is none. */
  certificate(): string | Buffer | false
}

/** Resolves when the proxy accepts connections that a client trusts. */
async function started({ child, folder, port, certificate }: Started): Promise<WebProxy> {
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      log += `${error.message}. .ci/run installs it.`
      resolve()
    })
  })
  let isRunning = true
  void ended.then(() => {
    isRunning = false
  })
  while (!(await isTrusted({ port, ca: certificate() }))) {
    if (!isRunning) {
      await rm(folder, { recursive: true, force: true })
      throw new Error(`The proxy ended:\n${log}`)
    }
    await sleep(20)
  }
  const ca = certificate() || undefined
  const authority = `${HOST}:${port}`
  return {
    origin: `https://${authority}`,
    log: () => log,
    send: ({ method = 'GET', headers, from = '127.0.0.1', ...rest }) =>
      sendRaw(`https://127.0.0.1:${port}`, {
        method,
        headers: { ...headers, host: authority },
        connection: { servername: HOST, localAddress: from, ...(ca && { ca }) },
        ...rest,
      }),
    follow: (request) => followOverHttp2({ port, authority, ca }, request),
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function isTrusted({ port, ca }: { port: number; ca: string | Buffer | false }): Promise<boolean> {
  if (!ca) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: HOST })
    socket.once('secureConnect', () => {
      resolve(socket.authorized)
      socket.destroy()
    })
    socket.once('error', () => resolve(false))
  })
}

interface Http2Address {
  port: number
  authority: string
  ca: string | Buffer | undefined
}

async function followOverHttp2(
  { port, authority, ca }: Http2Address,
  { method = 'GET', path, headers, body }: ProxyRequest,
): Promise<Listener> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { servername: HOST, ...(ca && { ca }) })
  const stream = session.request({
    ':method': method,
    ':path': path,
    ':authority': authority,
    ...headers,
  })
  stream.end(body)
  const received = await new Promise<Record<string, string>>((resolve, reject) => {
    stream.once('response', (all) =>
      resolve(Object.fromEntries(Object.entries(all).map(([k, v]) => [k, String(v)]))),
    )
    stream.once('error', reject)
    session.once('error', reject)
  })
  const { ':status': status, ...rest } = received
  return collectEvents({
    status: Number(status),
    headers: new Headers(rest),
    body: stream,
    leave: () => session.destroy(),
  })
}

/** @throws Error when a text to replace is not there: the file has changed. */
function replaceEach(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`docs/proxy/nginx.conf does not contain "${from}".`)
    return result.replaceAll(from, to)
  }, text)
}
