import { readFileSync } from 'node:fs'

/** The version in package.json. Everything that shows a version reads it here. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version
