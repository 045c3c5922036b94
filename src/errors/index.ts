/**
 * Every mistake Inlet can speak of: one named constructor each, by what it is about. Nothing here knows HTTP;
 * `plugins/problem-types.ts` does.
 */
export * from './access.ts'
export * from './app-error.ts'
export * from './codehost.ts'
export * from './requests.ts'
export * from './resources.ts'
