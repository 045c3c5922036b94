/**
 * Every mistake Inlet can speak of: one named constructor each, by what it is about. Nothing here knows HTTP;
 * `plugins/problems.ts` does.
 */
export * from './errors/access.ts'
export * from './errors/app-error.ts'
export * from './errors/codehost.ts'
export * from './errors/requests.ts'
export * from './errors/things.ts'
