import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { startApp, type TestApp, type TestAppOptions } from './app.ts'
import { type Receiver, SENDING_ENV, startReceiver } from './webhooks.ts'

interface Sending {
  /** One for all tests of the file. */
  app: TestApp
  /** One for each test. */
  receiver: Receiver
}

/** For the tests of the file that calls this: an app that sends webhooks, and receivers. They are given before each. */
export function sendingApp(onStart: (sending: Sending) => void, options: TestAppOptions = {}) {
  let app: TestApp
  let receiver: Receiver
  beforeAll(async () => {
    app = await startApp({ env: SENDING_ENV, ...options })
  })
  afterAll(() => app.close())
  beforeEach(async () => {
    receiver = await startReceiver()
    onStart({ app, receiver })
  })
  afterEach(async () => {
    await app.query('delete from webhooks')
    await receiver.close()
  })
  return {
    /** Returns its ID. */
    async createTask(title: string): Promise<string> {
      const { status, body } = await app.post('/api/tasks', { title })
      expect(status).toBe(201)
      return body.id
    },
  }
}
