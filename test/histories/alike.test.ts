import { testConvergence } from './support/test-convergence.ts'

testConvergence('after a full run alike, where all deliveries are lost and where none is', {
  projects: ['all', 'none'],
  isSyncedAtEnd: true,
})
