import { readDelivery } from './domain/feedback-reading.ts'
import { serveJobs } from './lib/side-thread.ts'

/** What is done beside the event loop, because it takes long for large bodies. Runs in a thread of its own. */
const jobs = { readDelivery }

export type WorkerJobs = typeof jobs

serveJobs(jobs)
