import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

const BUILT = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))
/** Paths for programs, and files: an unknown one is a 404, not the page. */
const NOT_PAGES = /^\/(api|mcp|metrics|in|auth|oauth|register|\.well-known|assets)(\/|$)/

/**
 * The dashboard's page and its files. Every other GET that matches no route returns the page, so that the
 * URL of a task can be opened.
 */
export const dashboardRoutes = fp(
  async function dashboardRoutes(app: FastifyInstance, { builtAt = BUILT }: { builtAt?: string }) {
    const page = await readFile(`${builtAt}/index.html`, 'utf8').catch(() => undefined)

    app.get('/', { schema: { hide: true } }, (_, reply) => sendPage(reply, page))
    app.get('/robots.txt', { schema: { hide: true } }, (_, reply) =>
      reply.type('text/plain; charset=utf-8').send('User-agent: *\nDisallow: /\n'),
    )
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404 && isPage(request)) return sendPage(reply, page)
    })
    if (page) {
      await app.register(files, {
        root: `${builtAt}/assets`,
        prefix: '/assets/',
        index: false,
        decorateReply: false,
        preCompressed: true,
        // The names of built files change with their content, so browsers can cache them without revalidation.
        immutable: true,
        maxAge: '365d',
        setHeaders: (reply) => {
          reply.header('x-content-type-options', 'nosniff')
        },
      })
    }
  },
  { name: 'dashboard' },
)

const isPage = ({ method, url }: FastifyRequest) =>
  (method === 'GET' || method === 'HEAD') && !NOT_PAGES.test(url.split('?')[0] ?? '')

function sendPage(reply: FastifyReply, page: string | undefined) {
  const nonce = randomBytes(16).toString('base64')
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policyWith(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    .status(page ? 200 : 503)
    .send((page ?? NOT_BUILT).replaceAll('__NONCE__', nonce))
}

const policyWith = (nonce: string) =>
  [
    `default-src 'none'`,
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    // Markdown is parsed in a worker.
    `worker-src 'self'`,
    // The page loads images of descriptions only when a user opens one.
    `img-src 'self' data: https:`,
    `font-src 'self'`,
    `connect-src 'self'`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Inlet</title><meta name="viewport" content="width=device-width"></head>
<body><h1>The dashboard is not built yet</h1>
<p>Run <code>npm run build</code>, then restart Inlet. <code>npm ci</code> also builds the dashboard.</p>
<p>The API works without the dashboard: <a href="/docs">API reference</a>.</p></body></html>
`
