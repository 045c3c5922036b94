import { pino } from 'pino'
import { startJobs } from '../../../src/jobs/index.ts'
import type { TestApp } from '../../support/app.ts'

/** Ends with its background worker, which shows what has happened within seconds. */
export async function withJobs<App extends TestApp>(started: Promise<App>): Promise<App> {
  const service = await started
  const jobs = startJobs({ services: service.service, logger: pino({ level: 'silent' }) })
  const { close } = service
  return Object.assign(service, {
    async close() {
      await jobs.stop()
      await close()
    },
  })
}
