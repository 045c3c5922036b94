import { expect, test } from 'vitest'
import { Problem } from '../../../src/dashboard/api/problem.ts'
import { type Task, taskQuery } from '../../../src/dashboard/api/queries.ts'
import { queryClient } from '../../../src/dashboard/api/query-client.ts'
import { recordsOf } from '../../../src/dashboard/api/task-records.ts'

test.each([
  [403, undefined],
  [404, 'before'],
])('what was loaded before a response %d is kept as %j', async (status, data) => {
  const queryKey = ['secret', status]
  queryClient.setQueryData(queryKey, 'before')
  const queryFn = () => Promise.reject(new Problem(status, {}))
  await expect(
    queryClient.fetchQuery({ queryKey, queryFn, staleTime: 0, retry: false }),
  ).rejects.toMatchObject({
    status,
  })
  expect(queryClient.getQueryData(queryKey)).toBe(data)
  expect(queryClient.getQueryState(queryKey)?.status).toBe('error')
})

test.each([
  [403, false],
  [404, true],
])('whether a task is shown after a response %d: %j', async (status, isShown) => {
  const { queryKey } = taskQuery(`task-${status}`)
  const records = recordsOf(queryClient)
  records.request()([{ id: `task-${status}`, version: 1, metadata: {} } as Task])
  let reports = 0
  const unsubscribe = records.subscribe(() => reports++)
  const queryFn = () => Promise.reject(new Problem(status, {}))
  await expect(queryClient.fetchQuery({ queryKey, queryFn, retry: false })).rejects.toMatchObject({ status })
  expect(records.full(`task-${status}`) !== undefined).toBe(isShown)
  expect(records.row(`task-${status}`) !== undefined).toBe(isShown)
  expect(reports).toBe(isShown ? 0 : 1)
  unsubscribe()
})
