import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findCycle, refusedBlockers } from '../../src/domain/dependencies.ts'

const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges))

describe('a cycle', () => {
  test.each([
    ['is none in a chain', { a: ['b'], b: ['c'] }, ['a'], undefined],
    ['is none where two ways lead to the same task', { a: ['b', 'c'], b: ['d'], c: ['d'] }, ['a'], undefined],
    ['is a task that is blocked by itself', { a: ['a'] }, ['a'], ['a']],
    ['begins with the changed task', { b: ['a'], a: ['b'] }, ['a'], ['a', 'b']],
    ['is the shortest', { a: ['b', 'c'], b: ['d'], d: ['c'], c: ['a'] }, ['a'], ['a', 'c']],
    ['is found behind other tasks', { x: ['y'], y: ['a'], a: ['b'], b: ['a'] }, ['x', 'b'], ['b', 'a']],
  ])('%s', (_, edges, changed, expected) => {
    expect(findCycle(graph(edges as Record<string, string[]>), changed)).toEqual(expected)
  })

  test('of 10,000 tasks is found', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `${n}`)
    const chain = new Map(ids.map((id, n) => [id, n === 9_999 ? ['0'] : [`${n + 1}`]]))
    expect(findCycle(chain, ['0'])).toEqual(ids)
    chain.set('9999', [])
    expect(findCycle(chain, ['0'])).toBeUndefined()
  })

  test('is found exactly if there is one through a changed task', () => {
    const nodes = 7
    const edges = fc.array(fc.tuple(fc.nat(nodes - 1), fc.nat(nodes - 1)), { maxLength: 14 })
    fc.assert(
      fc.property(edges, (pairs) => {
        const blockers = new Map<string, string[]>()
        for (const [from, to] of pairs) blockers.set(`${from}`, [...(blockers.get(`${from}`) ?? []), `${to}`])
        const all = Array.from({ length: nodes }, (_, n) => `${n}`)
        const onCycle = all.filter((id) => reachedFrom(blockers, id).has(id))
        const found = findCycle(blockers, all)
        expect(found !== undefined).toBe(onCycle.length > 0)
        for (const [n, id] of found?.entries() ?? [])
          expect(blockers.get(id)).toContain(found?.[(n + 1) % found.length])
      }),
    )
  })
})

function reachedFrom(blockers: Map<string, string[]>, start: string): Set<string> {
  const reached = new Set<string>()
  const left = [...(blockers.get(start) ?? [])]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    left.push(...(blockers.get(id) ?? []))
  }
  return reached
}

describe('what a task can be blocked by', () => {
  const projectOf = new Map([
    ['near', 'here'],
    ['far', 'there'],
    ['me', 'here'],
  ])
  const codes = (requested: string[], blockedBy: string[] = [], from = 'here') =>
    refusedBlockers(requested, {
      task: { id: 'me', projectId: from, blockedBy },
      projectId: 'here',
      projectOf,
    }).map(({ index, code }) => [index, code])

  test('is a task of its project, whatever the case of its id', () => {
    expect(codes(['near', 'NEAR'])).toEqual([])
  })

  test('is not itself, a task that is not found, or one of another project', () => {
    expect(codes(['me', 'near', 'gone', 'far'])).toEqual([
      [0, 'itself'],
      [2, 'task_not_found'],
      [3, 'other_project'],
    ])
  })

  test('is what it was blocked by before, whatever became of it', () => {
    expect(codes(['gone', 'far', 'other'], ['far', 'gone'])).toEqual([[2, 'task_not_found']])
    expect(codes(['near', 'gone'], ['near', 'gone'], 'there')).toEqual([[1, 'task_not_found']])
  })
})
