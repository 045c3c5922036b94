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

    test.each(['all projects', 'a project', 'a list'])(
      'of %s with a rare label has an index',
      async (place) => {
        const { usualProject: projectId, usualList: listId } = filled.ids
        const within = { 'a project': { projectId }, 'a list': { listId } }[place]
        for (const app of filled.apps()) {
          for (const label of ['rare', 'none such']) {
            filled.forget()
            expect((await app.post('/api/tasks/claim', { ...within, label })).status).toBeLessThan(300)
            expect(beyond(filled.works(), { read: 2 * MAX_READ, sorted: MAX_READ })).toEqual([])
          }
        }
      },
    )

    test('with a source of no open task reads no more than the open ones', async () => {
      for (const app of filled.apps()) {
        filled.forget()
        const body = { projectId: filled.ids.usualProject, source: 'webhook' }
        expect((await app.post('/api/tasks/claim', body)).status).toBe(204)
        expect(beyond(filled.works(), { read: filled.count * 0.045 })).toEqual([])
      }
    })
  })
}
