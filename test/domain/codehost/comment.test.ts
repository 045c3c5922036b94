import { describe, expect, test } from 'vitest'
import {
  type CodehostComment,
  commentOf,
  commentsOf,
  compareComment,
  externalIdOf,
  type StoredComment,
} from '../../../src/domain/codehost/comment.ts'
import { hashOf } from '../../../src/domain/codehost/task.ts'

const raw = {
  id: 7,
  url: 'https://api.example/repos/acme/app/issues/comments/7',
  html_url: 'https://example/acme/app/pull/3#issuecomment-7',
  issue_url: 'https://api.example/repos/acme/app/issues/3',
  body: 'Text',
  user: { login: 'bob', html_url: 'https://example/bob' },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-02T00:00:00Z',
}
const parsed = (change: object = {}) => commentOf({ ...raw, ...change }) as CodehostComment

const stored = (change: Partial<StoredComment> = {}): StoredComment => ({
  id: 'id',
  externalId: '7',
  taskId: 'task',
  authorType: 'codehost',
  authorName: 'bob',
  authorUrl: 'https://example/bob',
  externalUrl: raw.html_url,
  hostUpdatedAt: new Date(raw.updated_at),
  bodyHash: hashOf('Text') ?? '',
  ...change,
})

describe('a comment of the code host', () => {
  test('is parsed, whatever its text and its author are', () => {
    expect(parsed()).toEqual({
      externalId: '7',
      number: 3,
      body: 'Text',
      url: raw.html_url,
      author: { name: 'bob', url: 'https://example/bob' },
      createdAt: new Date(raw.created_at),
      updatedAt: raw.updated_at,
    })
    expect(parsed({ body: null, user: null, issue_url: undefined, created_at: 'never' })).toMatchObject({
      number: 3,
      body: '',
      author: null,
      createdAt: null,
    })
    expect(parsed({ body: 'a\0\ud83d' }).body).toBe('a\ufffd')
    expect(parsed({ html_url: 'javascript:alert(1)' }).url).toBeNull()
  })

  test.each([
    [{ id: 7, url: 'https://api.example/repos/a/b/issues/comments/9007199254740993' }, '9007199254740993'],
    [{ id: 9_007_199_254_740_992, url: null }, undefined],
    [{ id: 12, url: 'https://api.example/other' }, '12'],
    [{ id: 12, url: 'https://api.example/comments/9223372036854775808' }, '12'],
    [{ id: -1 }, undefined],
    [{ id: '12' }, undefined],
    [{}, undefined],
  ])('has the exact id of its URL: %j', (given, id) => {
    expect(externalIdOf(given)).toBe(id)
  })

  test.each([[null], ['text'], [{ ...raw, id: 'x', url: 'x' }], [{ ...raw, issue_url: 'x', html_url: 'x' }]])(
    'makes a page invalid if it is none: %j',
    (each) => {
      expect(commentOf(each)).toBeUndefined()
      expect(commentsOf([raw, each])).toBeUndefined()
    },
  )

  test('that is repeated on a page counts once, as it was last', () => {
    expect(commentsOf([raw, { ...raw, body: 'Later' }])).toMatchObject([{ body: 'Later' }])
  })

  test.each<[string, object, Partial<StoredComment> | undefined, string]>([
    ['unknown', {}, undefined, 'created'],
    ['the same', {}, {}, 'unchanged'],
    ['another body', { body: 'New' }, {}, 'edited'],
    ['another body of an older time', { body: 'New', updated_at: '2026-01-01T23:59:59Z' }, {}, 'unchanged'],
    ['another body without a time', { body: 'New', updated_at: null }, {}, 'edited'],
    ['a later time only', { updated_at: '2026-01-03T00:00:00Z' }, {}, 'refreshed'],
    ['another name', { user: null }, {}, 'refreshed'],
    ['written here', { body: 'New' }, { authorType: 'key' }, 'unchanged'],
  ])('is compared with what is stored: %s', (_, change, known, outcome) => {
    expect(compareComment(parsed(change), known && stored(known))).toBe(outcome)
  })
})
