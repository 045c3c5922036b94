/** Names of this very machine; a page that was served by it may call it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Whether a browser's page may call: one of this machine, on any port, or of the public address. */
export function isAllowedOrigin(origin: string, publicUrl: string | undefined): boolean {
  const url = URL.parse(origin)
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false
  return isLoopback(url.hostname) || (publicUrl !== undefined && url.origin === new URL(publicUrl).origin)
}

/**
 * Whether a request was sent to a name that is ours, on any port. A name of somebody else that leads here (DNS
 * rebinding) is how a page reaches a service on its visitor's machine.
 */
export function isAllowedHost(host: string, publicUrl: string | undefined): boolean {
  const hostname = URL.parse(`http://${host}`)?.hostname
  if (!hostname) return false
  return isLoopback(hostname) || (publicUrl !== undefined && hostname === new URL(publicUrl).hostname)
}
