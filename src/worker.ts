import { readPush } from './domain/codehost/delivery.ts'
import { readDelivery } from './domain/feedback/reading.ts'
import type { WorkerJobs } from './domain/worker-jobs.ts'
import { serveJobs } from './lib/side-thread.ts'

/** Work on large bodies, which would block the event loop for too long. Runs in a thread of its own. */
const jobs: WorkerJobs = {
  readDelivery,
  readPush,
}

serveJobs(jobs)
