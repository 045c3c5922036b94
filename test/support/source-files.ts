import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

interface Import {
  from: string
  to: string
  isTypeOnly: boolean
  /** What stands between the braces. */
  names?: string[]
  /** With `import()`. */
  isDynamic?: boolean
}

/** Each source file with its imports. */
export const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, imports: importsOf(file) }))
/** Those of the server. */
export const files = sources.filter(({ file }) => !file.startsWith('dashboard/'))

export function layerOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '')
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
export function neededBy(file: string, imports: Import[]): string[] {
  return imports
    .filter(({ to, isTypeOnly, isDynamic }) => to.startsWith('.') && !isTypeOnly && !isDynamic)
    .map(({ to }) => relative('src', join('src', dirname(file), to)))
}

export function source(file: string): string {
  return readFileSync(join(root, 'src', file), 'utf8')
}
