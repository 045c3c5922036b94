import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const service = process.env.INLET_URL ?? 'http://127.0.0.1:3000'

/** What Markdown's parser knows the names of characters by. */
const ENTITIES = 'decode-named-character-reference'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), paintsAtOnce()],
  // The service puts a fresh value in the place of this word with each page.
  html: { cspNonce: '__NONCE__' },
  worker: { format: 'es' },
  // It has one form for pages, which needs a document, and one for everything else; Markdown is parsed in a worker.
  resolve: {
    alias: { [ENTITIES]: fileURLToPath(import.meta.resolve(ENTITIES)) },
  },
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The first page in a few files, of which a release changes few; without this it would be twenty.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', tags: ['$initial'], test: /node_modules.*js$/ },
            { name: 'first', tags: ['$initial'] },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: service, changeOrigin: false }, '/docs': service } },
})

/**
 * The stylesheet after the body's first lines, which are painted while it loads, and before the dashboard, whose own
 * colours come later. Scripts that are modules wait for it, so nothing is ever shown without it; on a slow line they
 * come after it.
 */
function paintsAtOnce(): Plugin {
  return {
    name: 'paints-at-once',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html) {
        const [link = ''] = /<link rel="stylesheet"[^>]*>/.exec(html) ?? []
        const preload = link.replace('rel="stylesheet"', 'rel="preload" as="style"')
        return html
          .replace(link, preload)
          .replace('<div id="root">', `${link}\n    <div id="root">`)
          .replaceAll(/(?=<script type="module"|<link rel="modulepreload")<\w+/g, '$& fetchpriority="low"')
      },
    },
  }
}
