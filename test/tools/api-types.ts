import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { fetchTools } from './fetch.ts'

const DESCRIPTION = fileURLToPath(new URL('../contract/openapi.json', import.meta.url))
const TYPES = fileURLToPath(new URL('../../src/dashboard/api/schema.gen.ts', import.meta.url))

/** Writes the types of the API as `openapi.json` describes it; leaves a file that is up to date alone. */
export async function writeApiTypes(target: string): Promise<void> {
  fetchTools()
  // TypeScript 7 has no programming interface yet, and openapi-typescript prints with the one of TypeScript 5.
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  const { default: openapiTypes, astToString } = await import('openapi-typescript')
  const text = astToString(
    await openapiTypes(JSON.parse(await readFile(DESCRIPTION, 'utf8')), { defaultNonNullable: false }),
  )
  hooks.deregister()
  if ((await readFile(target, 'utf8').catch(() => '')) !== text) await writeFile(target, text)
}

if (import.meta.main) await writeApiTypes(TYPES)
