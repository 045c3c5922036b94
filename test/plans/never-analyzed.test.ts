import { describePlans } from './queries/filled.ts'

/* As in the first minutes of a service, and after a restore: PostgreSQL has no statistics of any table. */
describePlans('with tasks that were never analyzed', { count: 200_000, isAnalyzed: false })
