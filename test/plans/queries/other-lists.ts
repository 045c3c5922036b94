import { describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../src/domain/cursor.ts'
import { beyond, type Limits, MAX_READ } from '../../support/plans.ts'
import type { Filled } from './filled.ts'

const NAMES = { read: 21_100, sorted: 20_000 }

export function describeOtherLists(filled: Filled) {
  describe('a page of other lists', () => {
    const ACTIVITY = {
      all: '',
      'a task': '&taskId={task}',
      'a project': '&projectId={usualProject}',
      'a project of old tasks': '&projectId={oldProject}',
      'a type': '&type=task.created',
      'a type of no activity': '&type=no.such',
      'an actor': '&actorId={actor}',
      'some months': '&since=2026-01-01T00:00:00.000Z',
      'a project since a time': '&projectId={oldProject}&since=2026-10-01T00:00:00.000Z',
      'a project and a type': '&projectId={usualProject}&type=task.created',
      'a project and a type of no activity': '&projectId={usualProject}&type=no.such',
      'types of no activity': '&type=no.such&type=none.such',
    }
    test.each(Object.entries(ACTIVITY))('of the activity of %s has an index', async (_, filter) => {
      const [row] = await filled
        .service()
        .query(`select id, task_id, actor_id from activity order by id offset ${filled.count * 0.15} limit 1`)
      const path = `/api/activity?${filled.named(filter, { task: row.task_id, actor: row.actor_id })}`
      for (const app of filled.apps()) {
        for (const cursor of ['', `&cursor=${encodeCursor('activity', { key: null, id: row.id })}`]) {
          expect(beyond(await filled.workFor(app, path + cursor))).toEqual([])
        }
      }
    })

    test.each(['', '&type=task.created', '&since=2026-01-01T00:00:00.000Z'])(
      'of activity%s, for a key of one project, has an index',
      async (filter) => {
        expect(
          beyond(await filled.workFor(filled.service(), `/api/activity?${filter}`, { key: filled.key() })),
        ).toEqual([])
      },
    )

    test.each([
      // For each project, its lists are read.
      ['/api/projects', { read: 5_000 }],
      ['/api/projects/{usualProject}/lists'],
      ['/api/keys'],
      ['/api/sessions'],
      ['/api/rules/{rule}/versions'],
      ['/api/saved-filters'],
      // Merged from a page of each receiver and outcome.
      ['/api/deliveries', { sorted: 3 * 7 * 51 }],
      ['/api/deliveries?receiver=feedback&outcome=rejected'],
      ['/api/deliveries?outcome=failed&since=2026-01-01T00:00:00Z'],
      ['/api/deliveries?projectId={usualProject}&outcome=accepted'],
      ['/api/deliveries?sourceId={usualProject}'],
      ['/api/deliveries?senderId=sender%20of%20few'],
      ['/api/deliveries?senderId=sender%20of%20few&projectId={usualProject}&since=2026-01-01T00:00:00Z'],
      ['/api/deliveries?senderId=sender%20of%20few&sourceId={usualProject}&outcome=accepted'],
      ['/api/deliveries?senderId=sender%20of%20many', { sorted: 3 * 7 * 51 }],
      ['/api/deliveries?senderId=sender%20of%20many&projectId={oldProject}', { sorted: 3 * 7 * 51 }],
      ['/api/codehost/{usualProject}/syncs'],
      // Tasks in progress are counted: one in fifty.
      ['/api/context', { read: filled.count * 0.03, sorted: 201 }],
      ['/api/context?projectId={usualProject}', { read: filled.count * 0.0015 + MAX_READ }],
      // Not paged: the most used of at most 20,000 names.
      ['/api/labels', NAMES],
      ['/api/assignees', NAMES],
      ['/api/labels?projectId={usualProject}', NAMES],
      ['/api/labels?q=name%201', NAMES],
    ] as [string, Limits?][])('%s has an index', async (path, limits) => {
      const [rule] = await filled.service().query('select id from rules limit 1')
      expect(
        beyond(await filled.workFor(filled.service(), filled.named(path, { rule: rule.id })), limits),
      ).toEqual([])
    })
  })
}
