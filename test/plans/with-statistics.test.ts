import { describePlans } from './queries/filled.ts'

describePlans('with a million tasks', { count: 1_000_000, isAnalyzed: true })
