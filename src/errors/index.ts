/**
 * All errors of Inlet: one named constructor each, by subject. Nothing here depends on HTTP;
 * `plugins/problems/types.ts` does.
 */
export * from './access.ts'
export * from './app-error.ts'
export * from './claims.ts'
export * from './codehost.ts'
export * from './dependencies.ts'
export * from './imports.ts'
export * from './merging.ts'
export * from './people.ts'
export * from './requests.ts'
export * from './resources.ts'
export * from './webhooks.ts'
