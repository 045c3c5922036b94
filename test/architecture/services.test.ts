import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { files, source } from '../support/source-files.ts'

/** The services, by folder or file: each imports only from those after it. `src/README.md` shows the same list. */
const SERVICES: Record<string, string[]> = {
  'what runs over all': [
    'setup',
    'restored',
    'encryption',
    'metrics',
    'status',
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
    'people',
    'sessions',
    'saved-filters',
    'webhook-secrets',
    'key-changes',
  ],
  'what flows in and out': ['write-back', 'push', 'sync', 'sources', 'codehost', 'feedback', 'webhooks'],
  tasks: ['reports', 'comments', 'claims', 'notifications', 'overview', 'tasks'],
  'the ground': [
    'deliveries',
    'activity',
    'idempotency',
    'access',
    'user-view',
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

describe('the source', () => {
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
})
