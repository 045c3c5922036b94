import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/*
 * Loaded before the server (`--import`), so that Node keeps what it compiled: ready in 1.1 s instead of 1.65 s from
 * the second start on. Where the folder cannot be written nothing is kept.
 */
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/inlet', import.meta.url)))
