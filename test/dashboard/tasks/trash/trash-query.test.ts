import { describe, expect, test } from 'vitest'
import type { Activity, TaskListItem } from '../../../../src/dashboard/api/queries.ts'
import { deletedTasks, type TrashPage } from '../../../../src/dashboard/tasks/trash/trash-query.ts'

describe('the rows of the trash', () => {
  test('have the latest deletion of each task, also from a later page', () => {
    const rows = deletedTasks([
      page(['b', 'a'], [deletion('2', 'b'), deletion('1', 'b')]),
      page(['c'], [deletion('0', 'a')]),
    ])
    expect(rows.map(({ task, deletion }) => [task.id, deletion?.id])).toEqual([
      ['b', '2'],
      ['a', '0'],
      ['c', undefined],
    ])
  })

  test('are none without pages', () => {
    expect(deletedTasks([])).toEqual([])
  })
})

const page = (ids: string[], deletions: Activity[]): TrashPage => ({
  tasks: ids.map((id) => ({ id }) as TaskListItem),
  deletions,
  next: undefined,
})

const deletion = (id: string, taskId: string) => ({ id, taskId, type: 'task.deleted' }) as Activity
