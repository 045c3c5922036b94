import { describe, expect, test } from 'vitest'
import type { TaskListItem } from '../../../../src/dashboard/api/queries.ts'
import { equalTasks } from '../../../../src/dashboard/tasks/triage/equal-tasks.ts'

const task = (id: string, values: Partial<TaskListItem> = {}) =>
  ({ id, projectId: 'p', noteKey: null, reports: 1, ...values }) as TaskListItem

const idsOf = (tasks: TaskListItem[]) => tasks.map(({ id }) => id)

describe('equal tasks', () => {
  test('are one row, at the place of the first, and of those without a note each is one', () => {
    const [a1, b, a2, c] = [task('1', { noteKey: 'a' }), task('2'), task('3', { noteKey: 'a' }), task('4')]
    const { rows, tasksOf } = equalTasks([a1, b, a2, c])
    expect(idsOf(rows)).toEqual(['1', '2', '4'])
    expect(idsOf(tasksOf(a1))).toEqual(['1', '3'])
    expect(idsOf(tasksOf(b))).toEqual(['2'])
  })

  test('of different projects are different', () => {
    const tasks = [task('1', { noteKey: 'a' }), task('2', { noteKey: 'a', projectId: 'q' })]
    expect(idsOf(equalTasks(tasks).rows)).toEqual(['1', '2'])
  })

  test('are shown as the one that was reported most often', () => {
    const tasks = [task('1', { noteKey: 'a' }), task('2'), task('3', { noteKey: 'a', reports: 4 })]
    const { rows, tasksOf } = equalTasks(tasks)
    expect(idsOf(rows)).toEqual(['3', '2'])
    expect(idsOf(tasksOf(task('3')))).toEqual(['3', '1'])
  })

  test('are found by id: a newer record of the row has the same', () => {
    const { tasksOf, rowIdOf } = equalTasks([task('1', { noteKey: 'a' }), task('2', { noteKey: 'a' })])
    expect(idsOf(tasksOf(task('1', { reports: 2 })))).toEqual(['1', '2'])
    // So has any other of them, such as the one that is open.
    expect(idsOf(tasksOf(task('2')))).toEqual(['1', '2'])
    expect(idsOf(tasksOf(task('9')))).toEqual(['9'])
    expect(['1', '2', '9'].map(rowIdOf)).toEqual(['1', '1', '9'])
  })
})
