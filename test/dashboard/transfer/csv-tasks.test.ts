import { describe, expect, test } from 'vitest'
import { guessMapping, type Mapping, mapRows } from '../../../src/dashboard/transfer/csv-tasks.ts'

const map = (mapping: Mapping, ...rows: string[][]) =>
  mapRows({ rows: rows.map((cells, index) => ({ number: index + 2, cells })) }, mapping)

describe('columns', () => {
  test('are mapped by their names, each field once', () => {
    expect(guessMapping(['ID', 'Summary', 'Title', 'Tags', 'Assigned to', 'Status', 'external_id'])).toEqual([
      undefined,
      undefined,
      'title',
      'labels',
      'assignees',
      undefined,
      'externalId',
    ])
    expect(guessMapping(['Key', 'Subject', 'Body', 'URL', 'Priority'])).toEqual([
      'externalId',
      'title',
      'description',
      'externalUrl',
      'priority',
    ])
    expect(guessMapping(['a', 'b'])).toEqual([undefined, undefined])
  })
})

describe('a row', () => {
  test('becomes a task', () => {
    const [row] = map(
      ['title', 'description', 'priority', 'labels', 'assignees', 'externalId', 'externalUrl', undefined],
      [' One ', ' a\n', 'HIGH', 'bug, ui;bug', 'Ada', 'x-1', 'https://example.com/1', 'ignored'],
    )
    expect(row?.errors).toEqual([])
    expect(row?.task).toEqual({
      title: 'One',
      description: ' a\n',
      priority: 'high',
      labels: ['bug', 'ui'],
      assignees: ['Ada'],
      externalId: 'x-1',
      externalUrl: 'https://example.com/1',
    })
  })

  test('with empty cells has only a title', () => {
    expect(map(['title', 'description', 'priority', 'labels'], ['One', ' ', '', ' , '])[0]?.task).toEqual({
      title: 'One',
    })
  })

  test.each([
    ['title', ' ', 'Title is required'],
    ['title', '😀'.repeat(501), 'Title must have at most 500 characters'],
    ['description', 'x'.repeat(65_537), 'Description must have at most 65,536 characters'],
    ['priority', 'urgent', 'Priority must be low, medium or high, not “urgent”'],
    ['labels', Array.from({ length: 21 }, (_, nth) => nth).join(), 'Labels: at most 20'],
    ['assignees', 'x'.repeat(101), 'Assignees: each must have at most 100 characters'],
    ['externalId', 'x'.repeat(256), 'External ID must have at most 255 characters'],
    [
      'externalUrl',
      'javascript:alert(1)',
      'External URL must be an http or https URL, not “javascript:alert(1)”',
    ],
  ] as const)('with an invalid %s has an error', (field, cell, error) => {
    const cells = field === 'title' ? [cell] : ['One', cell]
    expect(map(field === 'title' ? ['title'] : ['title', field], cells)[0]?.errors).toEqual([error])
  })

  test('with 500 characters of two code units, or 65,536 characters of description, is valid', () => {
    const [row] = map(['title', 'description'], ['😀'.repeat(500), 'x'.repeat(65_536)])
    expect(row?.errors).toEqual([])
  })

  test('with the external ID of an earlier row has an error', () => {
    const rows = map(['title', 'externalId'], ['One', 'x'], ['Two', 'x'], ['Three', ''], ['Four', ''])
    expect(rows.map(({ errors }) => errors)).toEqual([[], ['External ID is the same as in row 2'], [], []])
  })

  test('that cannot be read has an error', () => {
    const [row] = mapRows(
      { rows: [{ number: 2, cells: ['One'], error: 'has 3 cells, but there are 2 columns' }] },
      ['title'],
    )
    expect(row?.errors).toEqual(['The row has 3 cells, but there are 2 columns'])
  })
})
