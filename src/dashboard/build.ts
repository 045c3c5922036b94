/**
 * Builds the dashboard into `dist/dashboard`; runs at `npm ci`. Where Vite is not installed (a production install
 * leaves it out) it does nothing: whoever serves without a build is told so by the page itself.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
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
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
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
