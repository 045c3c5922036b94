import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'

/** Writes the types of the API as its own description tells them; leaves a file that is right alone. */
export async function generateTypes(description: string, target: string) {
  // TypeScript 7 has no programming interface yet, and openapi-typescript prints with the one of TypeScript 5.
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  const { default: openapiTypes, astToString } = await import('openapi-typescript')
  const text = astToString(
    await openapiTypes(JSON.parse(await readFile(description, 'utf8')), { defaultNonNullable: false }),
  )
  hooks.deregister()
  if ((await readFile(target, 'utf8').catch(() => '')) !== text) await writeFile(target, text)
}
