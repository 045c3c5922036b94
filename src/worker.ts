import { readDelivery } from './domain/feedback/reading.ts'
import { serveJobs } from './lib/side-thread.ts'
import type { WorkerJobs } from './plugins/bulk-reading.ts'

/** What is done beside the event loop, because it takes long for large bodies. Runs in a thread of its own. */
const jobs: WorkerJobs = {
  readDelivery,
  // Checks take a while to load, and most threads never need them.
  async readBulk(bytes) {
    const { readBulk } = await import('./plugins/bulk-reading.ts')
    return readBulk(bytes)
  },
}

serveJobs(jobs)
