import { expect, test } from 'vitest'
import { redacted } from '../../src/repositories/redacted.ts'

const failed = (code: string) =>
  Object.assign(new Error('Failed query: insert into events … params: ada@example.com'), {
    query: 'insert into events values ($1)',
    cause: Object.assign(new Error('canceled while writing "ada@example.com"'), { code, severity: 'ERROR' }),
  })

test.each([
  ['is unavailable', '57014', 'unavailable'],
  ['refuses a statement', '22P02', '22P02'],
])('errors have no values where the database %s', async (_, code, shown) => {
  const error = await redacted(() => Promise.reject(failed(code))).catch((error) => error)

  expect(error).toMatchObject({ code: shown })
  expect(`${error.message} ${error.stack} ${error.cause?.message} ${error.cause?.stack}`).not.toContain('ada')
})
