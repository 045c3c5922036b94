import { describe, expect, test } from 'vitest'
import { type Location, locate, type Route } from '../../../src/dashboard/navigation/location.ts'

const [Shell, List, Panel, NotFound] = [() => null, () => null, () => null, () => null]

const routes: Route[] = [
  { path: '/tasks', components: [Shell, List], searchFrom: ({ q }) => ({ ...(q ? { q: String(q) } : {}) }) },
  { path: '/tasks/$taskId', components: [Shell, List, Panel] },
]

const at = (path: string, previous?: Location) =>
  locate(new URL(path, 'http://inlet.example'), { routes, notFound: [NotFound], state: null, previous })

describe('a location', () => {
  test('has the components and the parameters of its route', () => {
    expect(at('/tasks').components).toEqual([Shell, List])
    expect(at('/tasks/42')).toMatchObject({ components: [Shell, List, Panel], params: { taskId: '42' } })
  })

  test.for(['/', '/tasks/1/2', '/task', '//tasks'])('of no route is not found: %s', (path) => {
    expect(at(new URL(path, 'http://inlet.example').href).components).toEqual([NotFound])
  })

  test('has only the search parameters that its route accepts', () => {
    expect(at('/tasks?q=crash&utm=mail#page')).toMatchObject({
      search: { q: 'crash' },
      searchStr: '?q=crash',
      href: '/tasks?q=crash#page',
    })
    expect(at('/tasks/42?q=crash').href).toBe('/tasks/42')
  })

  test('ignores a slash at the end', () => {
    expect(at('/tasks/').href).toBe('/tasks')
    expect(at('/').pathname).toBe('/')
  })

  test('keeps the search parameters of the previous one if they are equal, so that lists are not reloaded', () => {
    const previous = at('/tasks?q=crash')
    expect(at('/tasks?q=crash', previous).search).toBe(previous.search)
    expect(at('/tasks?q=other', previous).search).toEqual({ q: 'other' })
  })
})
