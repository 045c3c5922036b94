/**
 * Builds the dashboard into `dist/dashboard`, and takes the script of the API reference out of its package into
 * `dist/reference`; runs at `npm ci`. Where Vite is not installed (a production install
 * leaves it out) it does nothing: whoever serves without a build is told so by the page itself.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

if (isInstalled('vite')) {
  // Also where a test runner starts this, it is the production build that is served.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: here('vite.config.ts'), logLevel: 'warn' })
  await compressAll(here('../../dist/dashboard/assets'))
  await buildReference(here('../../dist/reference'))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

/** The package holds its script as a text of 4 MB in a module: loading that in the service would cost 0.5 s and 20 MB. */
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

/** Each asset once more in the encodings browsers take, so that serving costs no time. */
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
