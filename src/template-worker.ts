import { readSourceDelivery } from './domain/sources/reading.ts'
import type { TemplateJobs } from './domain/sources/template-jobs.ts'
import { parseDefinition } from './domain/sources/templates.ts'
import { serveJobs } from './lib/side-thread.ts'

/** Work on the templates of sources, which may take any time. Runs in threads of its own. */
const jobs: TemplateJobs = {
  readSourceDelivery(input) {
    const start = performance.now()
    const reading = readSourceDelivery(input)
    return { reading, tookMs: performance.now() - start }
  },
  checkSource(definition) {
    const result = parseDefinition(definition)
    return 'errors' in result ? result.errors : []
  },
}

serveJobs(jobs)
