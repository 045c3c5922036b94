import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { updateClock } from '../../../src/dashboard/api/server-clock.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const responseAt = (date: string) => new Response(null, { headers: { date } })

beforeEach(() => void vi.useFakeTimers({ now: NOW }))
afterEach(() => {
  updateClock(responseAt(new Date().toUTCString()))
  vi.useRealTimers()
})

test('what just happened is just now, also when this machine is ten minutes behind', async () => {
  const { RelativeTime } = await import('../../../src/dashboard/components/relative-time.tsx')
  updateClock(responseAt('Sun, 22 Nov 2026 12:10:00 GMT'))
  const html = renderToString(createElement(RelativeTime, { dateTime: '2026-11-22T12:09:50.000Z' }))
  expect(html).toContain('>just now<')
})
