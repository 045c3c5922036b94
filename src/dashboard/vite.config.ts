import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const service = process.env.INLET_URL ?? 'http://127.0.0.1:3000'

const ENTITIES = 'decode-named-character-reference'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), earlyStyles(), smallIcons()],
  // The service replaces this placeholder with a nonce per response.
  html: { cspNonce: '__NONCE__' },
  worker: { format: 'es' },
  resolve: {
    alias: {
      // The package's browser build needs a document, which a worker does not have.
      [ENTITIES]: fileURLToPath(import.meta.resolve(ENTITIES)),
      // wouter uses it for versions of React that have no useSyncExternalStore.
      'use-sync-external-store/shim/index.js': 'react',
    },
  },
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // data: URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Two files for the first page instead of twenty; a release usually changes only one. Other parts come
    // in groups as well: names of many small files cost bytes in the first one.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', tags: ['$initial'], test: /node_modules.*js$/ },
            { name: 'first', tags: ['$initial'] },
            // What the first page shows next.
            {
              name: 'early',
              test: /dashboard.(live-updates|.*(saved-filters|more-filters|row-gestures|triage-count|failing-count|first-owner\.|reports.(counts|merging|queries|report-facts|similar-count)))/,
            },
            {
              name: 'triage',
              test: /dashboard.tasks.(triage|list.project-filter)/,
            },
            {
              name: 'controls',
              test: /node_modules.(@mantine(?!.core.esm.components.Tree)|@floating-ui|@primer|react-remove-scroll|tabbable)/,
            },
            { name: 'edits', test: /dashboard.(tasks.edits|components.undo)/ },
            {
              name: 'shared',
              test: /dashboard.(?!components.open-menu|session.sign-in-dialog)/,
              minShareCount: 2,
            },
            {
              name: 'dialogs',
              test: /dashboard.(shell.(menu-drawer|first-owner)|tasks.list.(?!selection-bar)|projects.new-project|keyboard)/,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: service, changeOrigin: false }, '/docs': service } },
})

/**
 * Moves the stylesheet behind the inline first paint, which then renders while it loads. Module scripts still wait
 * for it.
 */
function earlyStyles(): Plugin {
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

/** Leaves out the 24 px drawing of each icon: no icon is shown larger than 20 px. */
function smallIcons(): Plugin {
  return {
    name: 'small-icons',
    apply: 'build',
    transform: {
      filter: { id: /octicons-react\/dist\/icons\// },
      handler: (code) => ({
        code: code.replace(/,\n\t"24": \{[\s\S]*?\n\t\}/, '').replace(/,\s*"24"(?=\s*\])/, ''),
        map: null,
      }),
    },
  }
}
