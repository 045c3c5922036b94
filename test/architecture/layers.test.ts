import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { circlesOf } from '../support/circles.ts'
import { files, layerOf, neededBy, source, sources } from '../support/source-files.ts'

/**
 * The one direction: each layer imports only from layers further down. `types of x` means only with `import type`.
 * `src/README.md` shows the same list.
 */
const MAY_IMPORT: Record<string, string[]> = {
  cli: ['commands', 'start', 'config'],
  commands: ['start-text', 'services', 'repositories', 'db', 'types of config', 'lib'],
  server: ['start'],
  start: [
    'lifetime',
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
  lifetime: ['lib'],
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
  schemas: [],
  errors: [],
  lib: [],
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
})

function mayImport(from: string, to: string, isTypeOnly: boolean): boolean {
  const allowed = MAY_IMPORT[from] ?? []
  return from === to || allowed.includes(to) || (isTypeOnly && allowed.includes(`types of ${to}`))
}

const isPackage = (specifier: string, name: string) =>
  specifier === name || specifier.startsWith(`${name}/`) || specifier.startsWith(`@${name}/`)
