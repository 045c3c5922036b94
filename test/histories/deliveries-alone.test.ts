import { testConvergence } from './support/test-convergence.ts'

testConvergence('by deliveries alone, if none is lost', { projects: ['all'], isSyncedAtEnd: false })
