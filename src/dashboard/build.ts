/**
 * Builds the dashboard into `dist/dashboard`, and takes the script of the API reference out of its package into
 * `dist/reference`; runs at `npm ci`. Does nothing where Vite is not installed, as in a production install.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const pathTo = (path: string) => fileURLToPath(new URL(path, import.meta.url))

if (isInstalled('vite')) {
  // Test runners set NODE_ENV to test.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: pathTo('vite.config.ts'), logLevel: 'warn' })
  await compressAll(pathTo('../../dist/dashboard/assets'))
  await buildReference(pathTo('../../dist/reference'))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

/** The package has the script as a 4 MB string in a module: importing it in the service would cost 0.5 s and 20 MB. */
async function buildReference(folder: string) {
  const { fastify } = await import('fastify')
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await app.inject('/docs/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error(`The script of the API reference is missing: ${statusCode}.`)
  await mkdir(folder, { recursive: true })
  await writeFile(`${folder}/reference.js`, rawPayload)
  await compressAll(folder)
}

/** Writes brotli and gzip variants, so that the service does not compress per request. */
async function compressAll(folder: string) {
  const files = (await readdir(folder)).filter((name) => /\.(js|css|svg)$/.test(name))
  await Promise.all(
    files.map(async (name) => {
      const content = await readFile(`${folder}/${name}`)
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
      await writeFile(`${folder}/${name}.br`, await promisify(brotliCompress)(content, { params }))
      await writeFile(`${folder}/${name}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
}
