export type Api = ReturnType<typeof api>

// biome-ignore lint/suspicious/noExplicitAny: what a version returns is up to that version.
type Body = any

/** Sends requests to a version of Inlet, and throws what it says if it refuses one. */
export function api({ url, key }: { url: string; key: string }) {
  async function send(
    method: string,
    path: string,
    { body, headers }: { body?: unknown; headers?: object } = {},
  ) {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-api-key': key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
    return { status: response.status, headers: response.headers, body: (text && JSON.parse(text)) as Body }
  }
  return {
    url,
    send,
    get: async (path: string) => (await send('GET', path)).body,
    post: async (path: string, body?: unknown, headers?: object) =>
      (await send('POST', path, { body, ...(headers && { headers }) })).body,
    put: async (path: string, body: unknown) => (await send('PUT', path, { body })).body,
    patch: async (path: string, body: unknown) => (await send('PATCH', path, { body })).body,
    delete: async (path: string) => (await send('DELETE', path)).body,
  }
}
