import { startApp, type TestApp, type TestAppOptions } from './app.ts'

export interface TwoInstances {
  service: TestApp
  second: TestApp
  close(): Promise<void>
}

/** Two instances of the service on one database. The first one has the key that `given` and the calls use. */
export async function startTwoInstances(options: TestAppOptions = {}): Promise<TwoInstances> {
  const service = await startApp(options)
  const second = await startApp({ ...options, connectionString: service.connectionString })
  return {
    service,
    second,
    async close() {
      await second.close()
      await service.close()
    },
  }
}
