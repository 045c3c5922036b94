import { serveJobs } from '../../../src/lib/side-thread.ts'

serveJobs({ checkSource: () => process.exit(1) })
