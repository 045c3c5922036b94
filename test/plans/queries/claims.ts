import { describe, expect, test } from 'vitest'
import { beyond, MAX_READ, PAGE } from '../../support/plans.ts'
import type { Filled } from './filled.ts'

export function describeClaims(filled: Filled) {
  describe('claiming the next task', () => {
    const PLACES_TO_CLAIM = {
      'all projects': {},
      'a project': { projectId: 'usualProject' },
      'a project of old tasks': { projectId: 'oldProject' },
      'a list': { listId: 'usualList' },
      'a list of old tasks': { listId: 'oldList' },
    }
    test.each(Object.entries(PLACES_TO_CLAIM))('of %s is read in the order of an index', async (_, place) => {
      const body = Object.fromEntries(Object.entries(place).map(([name, id]) => [name, filled.ids[id]]))
      for (const app of filled.apps()) {
        for (const atOnce of [1, 32]) {
          filled.forget()
          const claims = await Promise.all(
            Array.from({ length: atOnce }, () => app.post('/api/tasks/claim', body)),
          )
          expect(claims.map(({ status }) => status)).toEqual(Array(atOnce).fill(200))
          // The open tasks of a list are sorted unless they are many; a batch is sorted.
          const limits = 'listId' in place ? { read: 2 * MAX_READ, sorted: MAX_READ } : { sorted: 2 * PAGE }
          expect(beyond(filled.works(), limits)).toEqual([])
        }
      }
    })

    test.each(['label', 'source'])(
      'with a %s of no open task reads no more than the open ones',
      async (filter) => {
        filled.forget()
        const body = {
          projectId: filled.ids.usualProject,
          ...(filter === 'label' ? { label: 'none such' } : { source: 'webhook' }),
        }
        expect((await filled.service().post('/api/tasks/claim', body)).status).toBe(204)
        expect(beyond(filled.works(), { read: filled.count * 0.045 })).toEqual([])
      },
    )
  })
}
