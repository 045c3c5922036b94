import { expect, test } from 'vitest'
import { Problem } from '../../../src/dashboard/api/problem.ts'
import { queryClient } from '../../../src/dashboard/api/query-client.ts'

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
