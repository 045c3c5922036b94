import { setTimeout } from 'node:timers/promises'

await setTimeout(1_500)
await import('./side-thread-jobs.ts')
