import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { namedSchemas } from '../../src/schemas/index.ts'
import { files, root, source } from '../support/source-files.ts'

/** What npm's scripts start: only these know the environment. */
const ENTRY_POINTS = ['start.ts', 'cli.ts']

/** Comments are not wrapped by the formatter, whose width is for code. */
const MAX_COMMENT_LENGTH = 125

describe('the source', () => {
  test('lists each schema with an id', async () => {
    const modules = readdirSync(join(root, 'src/schemas')).map(
      (file) => import(/* @vite-ignore */ `../../src/schemas/${file}`),
    )
    const exported = (await Promise.all(modules)).flatMap((module) => Object.values<{ $id?: string }>(module))
    const ids = new Set(exported.flatMap((value) => value?.$id ?? []))
    const listed = new Set(namedSchemas.map(({ $id }) => $id))
    expect(
      [...ids].filter((id) => !listed.has(id)),
      'add them to src/schemas/index.ts',
    ).toEqual([])
  })

  test('has only valid schemas', () => {
    const ajv = new Ajv2020({ strict: false })
    for (const schema of namedSchemas) {
      expect(ajv.validateSchema(schema), `${schema.$id}: ${ajv.errorsText()}`).toBe(true)
    }
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

  test('has no long comment lines', () => {
    const exclude = (path: string) => path.endsWith('node_modules') || path.endsWith('.gen.ts')
    const long = globSync('{src,test}/**/*.{ts,tsx}', { cwd: root, exclude }).flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          line.length > MAX_COMMENT_LENGTH && /^\s*(\/\/|\/?\*)/.test(line) ? `${file}:${index + 1}` : [],
        ),
    )
    expect(long, `at most ${MAX_COMMENT_LENGTH} characters`).toEqual([])
  })

  test('spreads no literals', () => {
    const spreading = files
      .filter(({ file }) => /\.\.\.\{ /.test(source(file)))
      .map(({ file }) => `src/${file}`)
    expect(spreading, 'name each member on a line of its own').toEqual([])
  })

  test('names the types of parameters with more than three members', () => {
    const inline = files.flatMap(({ file }) =>
      [...source(file).matchAll(/\}: \{([^{}]*)\}/g)]
        .filter(([, members = '']) => (members.match(/^\s*\w+\??[:(]|;\s*\w+\??[:(]/gm) ?? []).length > 3)
        .map(([, members = '']) => `src/${file}: ${members.trim()}`),
    )
    expect(inline).toEqual([])
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
