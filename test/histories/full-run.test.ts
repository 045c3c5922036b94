import { testConvergence } from './support/test-convergence.ts'

testConvergence('after a full run, whichever deliveries are lost', {
  projects: ['some'],
  isSyncedAtEnd: true,
})
