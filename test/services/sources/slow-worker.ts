import { setTimeout } from 'node:timers/promises'

await setTimeout(60_000)
