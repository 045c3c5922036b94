import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A loopback proxy that adds a key, for tools that cannot send one. */
export async function startKeyProxy(target: string, key: string): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(target)
  const proxy = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const sent = request(
      { hostname, port, method, path, headers: { ...headers, 'x-api-key': key } },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      },
    )
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}
