import { readPush } from './domain/codehost/delivery.ts'
import { readDelivery } from './domain/feedback/reading.ts'
import type { WorkerJobs } from './domain/worker-jobs.ts'
import { serveJobs } from './lib/side-thread.ts'

/** Work on large bodies, which would block the event loop for too long. Runs in a thread of its own. */
const jobs: WorkerJobs = {
  readDelivery,
  readPush,
  // The checks are slow to load, and most threads never use them.
  async readBulk(bytes) {
    const { readBulk } = await import('./domain/bulk-reading.ts')
    return readBulk(bytes)
  },
}

serveJobs(jobs)
