import type { TestApp } from './app.ts'

/** Where browsers find the service: nothing resolves the name, so that an address from elsewhere shows. */
export const PUBLIC_URL = 'https://inlet.test'

const MAX_REDIRECTS = 20

/** Where a browser has arrived. */
export interface Arrival {
  status: number
  /** Path and query, of the service or with the origin of another one. */
  at: string
  body: string
}

/** A browser without pages: it has cookies, and follows redirects between the service and providers. */
export function browserOf({ url: serviceUrl }: Pick<TestApp, 'url'>) {
  const cookies = new Map<string, { host: string; path: string; pair: string }>()

  return {
    /** Opens a page, and follows redirects to the end, or to the first address that `until` accepts. */
    async open(address: string, { until }: { until?: (url: URL) => boolean } = {}): Promise<Arrival> {
      let url = new URL(address, PUBLIC_URL)
      for (let count = 0; count < MAX_REDIRECTS; count++) {
        if (until?.(url)) return { status: 0, at: placeOf(url), body: '' }
        const response = await request(url)
        const location = response.headers.get('location')
        if (!location) return { status: response.status, at: placeOf(url), body: await response.text() }
        await response.arrayBuffer()
        url = new URL(location, url)
      }
      throw new Error('Too many redirects.')
    },

    /** Calls the API from a page. */
    async call(method: string, path: string, body?: object) {
      const url = new URL(path, PUBLIC_URL)
      const response = await request(url, {
        method,
        headers: { origin: PUBLIC_URL, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
      return { status: response.status, body: (text === '' ? '' : JSON.parse(text)) as any }
    },

    /** Takes over a session. */
    setCookie: (pair: string) => keep(new URL(PUBLIC_URL), pair),
    cookie: (name: string) => [...cookies.values()].find(({ pair }) => pair.startsWith(`${name}=`))?.pair,
  }

  async function request(url: URL, init: RequestInit & { headers?: Record<string, string> } = {}) {
    const sent = [...cookies.values()].filter(
      ({ host, path }) => host === url.host && url.pathname.startsWith(path),
    )
    const target = url.origin === PUBLIC_URL ? serviceUrl + url.pathname + url.search : url.href
    const cookie = sent.map(({ pair }) => pair).join('; ')
    const response = await fetch(target, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(cookie && { cookie }) },
    })
    for (const header of response.headers.getSetCookie()) keep(url, header)
    return response
  }

  function keep({ host, pathname }: URL, header: string): void {
    const [pair = '', ...attributes] = header.split('; ')
    const name = pair.split('=')[0]
    const path = /^path=(.*)$/i.exec(attributes.find((each) => /^path=/i.test(each)) ?? '')?.[1] ?? pathname
    const key = `${host} ${path} ${name}`
    const isGone = attributes.some((each) => /^expires=Thu, 01 Jan 1970/i.test(each))
    if (isGone) cookies.delete(key)
    else cookies.set(key, { host, path, pair })
  }
}

const placeOf = (url: URL) => (url.origin === PUBLIC_URL ? url.pathname + url.search : url.href)
