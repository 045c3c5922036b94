import { describe, expect, test } from 'vitest'
import type { Change } from '../../../../src/dashboard/tasks/edits/bulk.ts'
import { changeLabel } from '../../../../src/dashboard/tasks/edits/toast-text.ts'

describe('the label of a change', () => {
  test.each<[Change, string]>([
    [{ status: 'done' }, 'Done'],
    [{ status: 'done', closedReason: 'completed' }, 'Done'],
    [{ status: 'done', closedReason: 'not_planned' }, 'Not planned'],
    [{ status: 'open' }, 'Reopened'],
    [{ status: 'in_progress' }, 'In progress'],
    [{ priority: 'high' }, 'Priority high'],
    [{ listId: '01a202ab-b381-7000-8000-06cadcdd0402' }, 'Moved'],
    [{ title: 'A title' }, 'Title changed'],
    [{ labels: [] }, 'Labels changed'],
    [{ externalUrl: 'https://example.com' }, 'External URL changed'],
    [{ notes: 'Text' }, 'Notes changed'],
    [{ notes: null }, 'Notes removed'],
    [{ notes: '' }, 'Notes removed'],
    [{}, 'Changed'],
  ])('%j', (change, label) => {
    expect(changeLabel(change)).toBe(label)
  })
})
