import { describe, expect, test } from 'vitest'
import { decodeChangeCursor, encodeChangeCursor } from '../../src/domain/change-cursor.ts'

const epoch = '6fa459ea-ee8a-4ca4-894e-db77e160355e'

describe('a cursor of changes', () => {
  test.each([0, 1, 4_294_967_296, Number.MAX_SAFE_INTEGER])(
    'has the epoch and the position %d',
    (position) => {
      const cursor = encodeChangeCursor({ epoch, position })

      expect(cursor).toMatch(/^[\w-]{32}$/)
      expect(decodeChangeCursor(cursor)).toEqual({ epoch, position })
    },
  )

  test.each(['', 'x', 'A'.repeat(31), 'A'.repeat(33), `${'A'.repeat(31)}=`, epoch])('is not %j', (text) => {
    expect(decodeChangeCursor(text)).toBeUndefined()
  })
})
