import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

/* JSON.stringify is recursive, and the stack of a thread is small: no valid request is nested this deep. */

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const item = (members: string) =>
  `{"listId":"01890000-0000-7000-8000-000000000000","tasks":[{"title":"A"},{${members}}]}`
const BODIES = {
  'an unknown member': `{"title":${DEEP}}`,
  'the list': `{"listId":${DEEP},"tasks":[{"title":"A"}]}`,
  'the tasks': `{"listId":"01890000-0000-7000-8000-000000000000","tasks":${DEEP}}`,
  'a title': item(`"title":${DEEP}`),
  'metadata of a task': item(`"title":"A","metadata":{"a":${DEEP}}`),
  'labels of a task': item(`"title":"A","labels":${DEEP}`),
  'an unknown member of a task': item(`"title":"A","nope":${DEEP}`),
}

describe('a bulk request with 100,000 levels of nesting', () => {
  test.each(Object.entries(BODIES))('in %s is 400', async (_, body) => {
    for (const query of ['', '?onError=continue']) {
      for (const headers of [{}, { 'idempotency-key': `nested ${query} ${body.length}` }]) {
        const response = await fetch(`${service.url}/api/tasks/bulk${query}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': service.adminKey, ...headers },
          body,
        })
        const { code } = (await response.json()) as { code?: string }
        // With onError=continue, the list is looked for before a bad item fails for itself.
        const codes = query ? ['validation_failed', 'list_not_found'] : ['validation_failed']
        expect(codes).toContain(code)
      }
    }
  })
})
