import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

const BUILT = fileURLToPath(new URL('../../dist/reference', import.meta.url))

/** The API reference for people: Scalar's page over `/openapi.json`, everything served from here. */
export const docsRoutes = fp(
  async function docsRoutes(app: FastifyInstance, { builtAt = BUILT }: { builtAt?: string }) {
    for (const path of ['/docs', '/docs/']) {
      app.get(path, { schema: { hide: true } }, (_, reply) => reply.headers(HEADERS).send(PAGE))
    }
    app.get('/docs/start.js', { schema: { hide: true } }, (_, reply) =>
      reply.type('text/javascript; charset=utf-8').send(START),
    )
    if (existsSync(builtAt)) {
      await app.register(files, {
        root: builtAt,
        prefix: '/docs/assets/',
        index: false,
        decorateReply: false,
        preCompressed: true,
        maxAge: '1h',
      })
    }
  },
  { name: 'docs' },
)

const OPTIONS = {
  url: '/openapi.json',
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
}

const START = `Scalar.createApiReference('#reference', ${JSON.stringify(OPTIONS)})`

/** Colors with enough contrast for small text, and a name for the copy buttons, which is otherwise only shown on hover. */
const STYLE = `
.light-mode {
  --scalar-color-2: #4a4a4a; --scalar-color-3: #595959; --scalar-color-green: #00663f; --scalar-color-blue: #0059a8;
  --scalar-color-yellow: #7a5200; --scalar-color-orange: #8f4400; --scalar-color-red: #b80000;
  --scalar-color-purple: #5203d1;
}
.dark-mode { --scalar-color-2: #b8b8b8; --scalar-color-3: #a6a6a6; --scalar-color-red: #ff8080; }
.scalar-app .scalar-code-copy span.hidden { display: inline; }
`

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Inlet API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><div id="reference"></div><noscript>The reference needs JavaScript. <a href="/openapi.json">The OpenAPI document</a> does not.</noscript>
<script src="/docs/assets/reference.js"></script><script src="/docs/start.js"></script></body></html>
`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    // The page sets styles on its elements.
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self' data:`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}
