import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { circlesOf } from '../support/circles.ts'
import { neededBy, root, sources } from '../support/source-files.ts'

/** What each folder of the dashboard may import; `app` is the files at its top. */
const DASHBOARD_MAY_IMPORT: Record<string, string[]> = {
  app: [
    'shell',
    'incoming',
    'overview',
    'notifications',
    'transfer',
    'tasks',
    'projects',
    'settings',
    'session',
    'navigation',
    'components',
    'api',
  ],
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
  palette: ['tasks', 'projects', 'settings', 'session', 'keyboard', 'navigation', 'components', 'api', 'lib'],
  incoming: ['overview', 'settings', 'tasks', 'session', 'navigation', 'components', 'api', 'lib'],
  overview: ['pictures', 'tasks', 'session', 'navigation', 'components', 'api', 'lib'],
  notifications: ['settings', 'session', 'keyboard', 'navigation', 'components', 'api'],
  pictures: ['lib'],
  transfer: ['settings', 'session', 'navigation', 'components', 'api', 'lib'],
  tasks: ['live-updates', 'session', 'keyboard', 'markdown', 'navigation', 'components', 'api', 'lib'],
  projects: [
    'overview',
    'settings',
    'pictures',
    'live-updates',
    'session',
    'navigation',
    'components',
    'api',
    'lib',
  ],
  settings: ['overview', 'session', 'markdown', 'navigation', 'components', 'api', 'lib'],
  'live-updates': ['session', 'components', 'api', 'lib'],
  session: ['navigation', 'components', 'api'],
  keyboard: ['navigation', 'components', 'types of api'],
  navigation: ['components', 'api'],
  components: ['api'],
  markdown: ['components'],
  api: ['lib'],
  lib: [],
}

describe('the source', () => {
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

  test('uses only CSS variables that are set somewhere', () => {
    const directory = join(root, 'src/dashboard')
    const files = globSync('**/*.{css,ts,tsx}', { cwd: directory }).map((file) => ({
      file,
      text: readFileSync(join(directory, file), 'utf8'),
    }))
    const set = new Set(files.flatMap(({ text }) => text.match(/--[\w-]+(?='?\s*[:,])/g) ?? []))
    const violations = files.flatMap(({ file, text }) =>
      [...text.matchAll(/var\((--(?!mantine-)[\w-]+)(?=[,)])/g)]
        .filter(([, name = '']) => !set.has(name))
        .map(([, name]) => `src/dashboard/${file} uses ${name}, which is not set anywhere`),
    )
    expect(violations).toEqual([])
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
