import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { namedSchemas } from '../src/schemas/index.ts'
import { circlesOf } from './support/circles.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The one direction: each layer imports only from layers further down. `types of x` means only with `import type`.
 * `src/README.md` shows the same list.
 */
const MAY_IMPORT: Record<string, string[]> = {
  cli: ['commands', 'server', 'config'],
  commands: ['start-text', 'services', 'repositories', 'db', 'types of config', 'lib'],
  server: [
    'start-text',
    'app',
    'jobs',
    'services',
    'repositories',
    'clients',
    'db',
    'config',
    'tracing',
    'lib',
  ],
  'start-text': ['types of services'],
  app: [
    'bare-app',
    'routes',
    'mcp',
    'guards',
    'plugins',
    'types of services',
    'db',
    'types of config',
    'schemas',
    'errors',
    'lib',
  ],
  'bare-app': ['plugins', 'services', 'db', 'types of config', 'errors', 'lib'],
  'template-worker': ['domain', 'lib'],
  routes: ['guards', 'plugins', 'services', 'schemas', 'errors', 'lib'],
  mcp: ['services', 'domain', 'schemas', 'errors', 'lib'],
  jobs: ['types of services', 'lib'],
  guards: ['types of services', 'domain', 'types of config', 'errors', 'lib'],
  plugins: ['types of services', 'domain', 'schemas', 'errors', 'lib'],
  services: ['domain', 'repositories', 'types of clients', 'schemas', 'errors', 'lib'],
  repositories: ['domain', 'db', 'errors'],
  domain: ['schemas', 'errors', 'lib'],
  clients: ['schemas', 'lib'],
  db: ['lib'],
  config: ['trace-config'],
  tracing: ['types of trace-config', 'lib'],
  'trace-config': [],
  'compile-cache': [],
  schemas: [],
  errors: [],
  lib: [],
}

/** The same for the folders of the dashboard; `app` is the files at its top. */
const DASHBOARD_MAY_IMPORT: Record<string, string[]> = {
  app: ['shell', 'transfer', 'tasks', 'projects', 'settings', 'session', 'navigation', 'components', 'api'],
  shell: [
    'palette',
    'tasks',
    'projects',
    'live-updates',
    'session',
    'keyboard',
    'navigation',
    'components',
    'api',
  ],
  palette: ['tasks', 'settings', 'session', 'keyboard', 'navigation', 'components', 'api', 'lib'],
  transfer: ['settings', 'session', 'components', 'api', 'lib'],
  tasks: ['live-updates', 'session', 'keyboard', 'markdown', 'navigation', 'components', 'api', 'lib'],
  projects: ['settings', 'live-updates', 'session', 'navigation', 'components', 'api', 'lib'],
  settings: ['session', 'navigation', 'components', 'api', 'lib'],
  'live-updates': ['session', 'components', 'api', 'lib'],
  session: ['navigation', 'components', 'api'],
  keyboard: ['navigation', 'components', 'types of api'],
  navigation: ['components', 'api'],
  components: ['api'],
  markdown: ['components'],
  api: ['lib'],
  lib: [],
}

/** The services, by folder or file: each imports only from those after it. `src/README.md` shows the same list. */
const SERVICES: Record<string, string[]> = {
  'what runs over all': [
    'setup',
    'restored',
    'encryption',
    'metrics',
    'cleanup',
    'statistics',
    'import',
    'export',
  ],
  'what is set up': [
    'projects',
    'project-deletions',
    'lists',
    'list-deletions',
    'list-locks',
    'rules',
    'context',
    'keys',
    'sessions',
    'saved-filters',
    'webhook-secrets',
  ],
  'what flows in and out': ['write-back', 'push', 'sync', 'sources', 'codehost', 'feedback', 'webhooks'],
  tasks: ['reports', 'comments', 'claims', 'tasks'],
  'the ground': [
    'activity',
    'idempotency',
    'access',
    'page',
    'place',
    'versions',
    'writable-project',
    'large-deletions',
    'rule-sequence',
    'retry-decision',
    'rotating-secrets',
    'leases',
    'recorder',
    'import-state',
    'failure-limit',
  ],
}

/** Packages that only one layer may know. */
const OWNED_PACKAGES: Record<string, string[]> = {
  'drizzle-orm': [],
  pg: ['db'],
  fastify: ['app', 'bare-app', 'routes', 'plugins', 'guards', 'mcp'],
  octokit: ['clients'],
  'prom-client': ['services'],
  opentelemetry: ['tracing', 'plugins'],
}

/** What npm's scripts start: only these know the environment. */
const ENTRY_POINTS = ['server.ts', 'cli.ts']

interface Import {
  from: string
  to: string
  isTypeOnly: boolean
  /** What stands between the braces. */
  names?: string[]
  /** With `import()`. */
  isDynamic?: boolean
}

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, imports: importsOf(file) }))
const files = sources.filter(({ file }) => !file.startsWith('dashboard/'))

describe('the source', () => {
  test('has only the listed layers', () => {
    const layers = new Set(files.map(({ file }) => layerOf(file)))
    expect([...layers].filter((layer) => !(layer in MAY_IMPORT))).toEqual([])
  })

  test('imports in one direction', () => {
    const violations = files.flatMap(({ file, imports }) =>
      imports
        .filter(({ to }) => to.startsWith('.'))
        .map(({ to, ...rest }) => ({ ...rest, to: relative('src', join('src', dirname(file), to)) }))
        .filter(({ to, isTypeOnly }) => !mayImport(layerOf(file), layerOf(to), isTypeOnly))
        .map(
          ({ to }) =>
            `src/${file} must not import src/${to}: ${layerOf(file)} may import ${MAY_IMPORT[layerOf(file)]?.join(', ') || 'nothing'}`,
        ),
    )
    expect(violations).toEqual([])
  })

  test('imports only from layers further down, types included', () => {
    const layers = Object.keys(MAY_IMPORT)
    const violations = layers.flatMap((layer, index) =>
      (MAY_IMPORT[layer] ?? [])
        .filter((allowed) => !layers.slice(index + 1).includes(allowed.replace('types of ', '')))
        .map((allowed) => `${layer} lists ${allowed}, which is not below it`),
    )
    expect(violations).toEqual([])
  })

  test('gives repositories the constants and types of domain, but not its functions', () => {
    const violations = files
      .filter(({ file }) => layerOf(file) === 'repositories')
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ to, isTypeOnly }) => /^(\.\.\/)+domain\//.test(to) && !isTypeOnly)
          .flatMap(({ names }) => names ?? [])
          .filter((name) => !/^(type \w+|[A-Z][A-Z\d_]*)$/.test(name))
          .map((name) => `src/${file} must not import ${name}: repositories may import constants of domain`),
      )
    expect(violations).toEqual([])
  })

  test('uses every import that is listed', () => {
    const used = files.flatMap(({ file, imports }) =>
      imports
        .filter(({ to }) => to.startsWith('.'))
        .map(({ to, isTypeOnly }) => {
          const layer = layerOf(relative('src', join('src', dirname(file), to)))
          return `${layerOf(file)} imports ${isTypeOnly ? 'types of ' : ''}${layer}`
        }),
    )
    const listed = Object.entries(MAY_IMPORT).flatMap(([layer, allowed]) =>
      allowed.map((name) => `${layer} imports ${name}`),
    )
    expect(listed.filter((line) => !used.includes(line))).toEqual([])
  })

  test('is listed in src/README.md', () => {
    const cells = (text = '') => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
    const rows = source('README.md').matchAll(/^\| `([\w-]+)` \| ([^|]*) \| ([^|]*) \|$/gm)
    const shown = [...rows].map(([, layer, imports, types]) => [
      layer,
      [...cells(imports), ...cells(types).map((name) => `types of ${name}`)].sort(),
    ])
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(Object.entries(MAY_IMPORT).map(([layer, allowed]) => [layer, allowed.toSorted()])),
    )
  })

  test('has no import circles at run time', () => {
    const needs = new Map(sources.map(({ file, imports }) => [file, neededBy(file, imports)]))
    expect(circlesOf(needs)).toEqual([])
  })

  test('imports in one direction inside services, types included', () => {
    const order = Object.values(SERVICES).flat()
    const serviceOf = (file: string) => file.split('/')[1]?.replace('.ts', '') ?? ''
    const services = files.filter(({ file }) => file.startsWith('services/') && file !== 'services/index.ts')
    expect(new Set(order)).toEqual(new Set(services.map(({ file }) => serviceOf(file))))
    const violations = services.flatMap(({ file, imports }) =>
      imports
        .filter(({ to }) => to.startsWith('.'))
        .map(({ to }) => join(dirname(file), to))
        .filter((to) => to.startsWith('services/') && serviceOf(to) !== serviceOf(file))
        .filter((to) => order.indexOf(serviceOf(to)) < order.indexOf(serviceOf(file)))
        .map((to) => `src/${file} must not import src/${to}: ${serviceOf(to)} is above ${serviceOf(file)}`),
    )
    expect(violations).toEqual([])
  })

  test('lists the services in src/README.md', () => {
    const rows = [...source('README.md').matchAll(/^\| ([a-z ]+) \| (`[\w-]+`(?:, `[\w-]+`)*) \|$/gm)]
    const shown = rows.map(([, level, names = '']) => [level, names.replaceAll('`', '').split(', ')])
    expect(Object.fromEntries(shown)).toEqual(SERVICES)
  })

  test('imports in one direction inside the dashboard', () => {
    const folderOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : 'app')
    const violations = sources.flatMap(({ file, imports }) => {
      if (!file.startsWith('dashboard/')) return []
      const folder = folderOf(relative('dashboard', file))
      const allowed = DASHBOARD_MAY_IMPORT[folder] ?? []
      return imports
        .filter(({ to }) => to.startsWith('.'))
        .map(({ to, isTypeOnly }) => ({ to: relative('dashboard', join(dirname(file), to)), isTypeOnly }))
        .filter(({ to, isTypeOnly }) => {
          const target = folderOf(to)
          return (
            target !== folder &&
            !allowed.includes(target) &&
            !(isTypeOnly && allowed.includes(`types of ${target}`))
          )
        })
        .map(
          ({ to }) =>
            `src/${file} must not import src/dashboard/${to}: ${folder} may import ${allowed.join(', ') || 'nothing'}`,
        )
    })
    expect(violations).toEqual([])
  })

  test('has no import circles in the dashboard, types included', () => {
    const needs = new Map(
      sources
        .filter(({ file }) => file.startsWith('dashboard/'))
        .map(({ file, imports }) => [
          file,
          neededBy(
            file,
            imports.map((one) => ({ ...one, isTypeOnly: false })),
          ),
        ]),
    )
    expect(circlesOf(needs)).toEqual([])
  })

  test('names the files of each import circle', () => {
    const needs = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['b']],
      ['d', ['c']],
    ])
    expect(circlesOf(needs)).toEqual(['b -> c -> b'])
  })

  test('uses each package in one layer only', () => {
    const violations = files.flatMap(({ file, imports }) =>
      imports
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .flatMap(({ to }) => Object.entries(OWNED_PACKAGES).filter(([name]) => isPackage(to, name)))
        .filter(([, layers]) => !layers.includes(layerOf(file)))
        .map(
          ([name, layers]) =>
            `src/${file} must not import ${name}: it belongs to ${layers.join(', ') || 'src/db/drizzle.ts'}`,
        ),
    )
    expect(violations).toEqual([])
  })

  test('lists each schema with an id', async () => {
    const modules = readdirSync(join(root, 'src/schemas')).map(
      (file) => import(/* @vite-ignore */ `../src/schemas/${file}`),
    )
    const exported = (await Promise.all(modules)).flatMap((module) => Object.values<{ $id?: string }>(module))
    const ids = new Set(exported.flatMap((value) => value?.$id ?? []))
    const listed = new Set(namedSchemas.map(({ $id }) => $id))
    expect(
      [...ids].filter((id) => !listed.has(id)),
      'add them to src/schemas/index.ts',
    ).toEqual([])
  })

  test('has words for each pattern, because errors show them instead', () => {
    const withoutWords = (schema: unknown, path: string): string[] => {
      if (typeof schema !== 'object' || schema === null) return []
      const { pattern, format } = schema as Record<string, unknown>
      const isMissing = typeof pattern === 'string' && format !== 'uri' && !('x-words' in schema)
      const inside = Object.entries(schema).flatMap(([name, part]) => withoutWords(part, `${path}/${name}`))
      return isMissing ? [path, ...inside] : inside
    }
    expect(namedSchemas.flatMap((schema) => withoutWords(schema, String(schema.$id)))).toEqual([])
  })

  test('reads the environment in one place', () => {
    const violations = files
      .filter(({ file }) => !ENTRY_POINTS.includes(file) && /process\.env/.test(source(file)))
      .map(({ file }) => `src/${file} reads process.env: ask config.ts`)
    expect(violations).toEqual([])
  })

  test('keeps its top level to the listed names', () => {
    const named = [
      'Dockerfile',
      'LICENSE',
      'README.md',
      'docker-compose.yml',
      'docs',
      'drizzle.config.ts',
      'migrations',
      'package-lock.json',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
    ]
    const ignored = ['node_modules', 'data', 'dist']
    const odd = readdirSync(root).filter(
      (name) => !name.startsWith('.') && ![...named, ...ignored].includes(name),
    )
    expect(odd).toEqual([])
  })
})

describe('the tests of the dashboard', () => {
  test('poll for what a page shows', () => {
    const read =
      /expect\([^\n]*await [^\n]*\.(count|title|innerText|inputValue|getAttribute|is[A-Z]\w+|all[A-Z]\w+)\(/
    const directory = join(root, 'test/e2e')
    const violations = readdirSync(directory).flatMap((file) => {
      const lines = file.endsWith('.ts') ? readFileSync(join(directory, file), 'utf8').split('\n') : []
      return lines.flatMap((line, index) =>
        read.test(line)
          ? [`test/e2e/${file}:${index + 1} reads a page once: use expect.poll, or expectNone`]
          : [],
      )
    })
    expect(violations).toEqual([])
  })
})

function layerOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '')
}

function mayImport(from: string, to: string, isTypeOnly: boolean): boolean {
  const allowed = MAY_IMPORT[from] ?? []
  return from === to || allowed.includes(to) || (isTypeOnly && allowed.includes(`types of ${to}`))
}

function importsOf(file: string): Import[] {
  const text = source(file)
  const known = text.matchAll(/^(?:import|export)\s+(type\s)?([^'"]*?)from\s+'([^']+)'|^import\s+'([^']+)'/gm)
  const dynamic = text.matchAll(/(?<!typeof )\bimport\('([^']+)'\)/g)
  return [
    ...[...known].map(([, type, named = '', from, bare]) => ({
      from: file,
      to: from ?? bare ?? '',
      isTypeOnly: Boolean(type),
      names: named.split(/[{},]/).flatMap((name) => name.trim() || []),
    })),
    ...[...dynamic].map(([, to = '']) => ({ from: file, to, isTypeOnly: false, isDynamic: true })),
  ]
}

/** The files that load with a file; what it needs for its types, or imports later, does not. */
function neededBy(file: string, imports: Import[]): string[] {
  return imports
    .filter(({ to, isTypeOnly, isDynamic }) => to.startsWith('.') && !isTypeOnly && !isDynamic)
    .map(({ to }) => relative('src', join('src', dirname(file), to)))
}

const isPackage = (specifier: string, name: string) =>
  specifier === name || specifier.startsWith(`${name}/`) || specifier.startsWith(`@${name}/`)

function source(file: string): string {
  return readFileSync(join(root, 'src', file), 'utf8')
}
