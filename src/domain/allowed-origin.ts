import { isLoopback } from '../lib/loopback.ts'

/** Whether a browser page may call: its origin is this machine, on any port, or the public address. */
export function isAllowedOrigin(origin: string, publicUrl: string | undefined): boolean {
  const url = URL.parse(origin)
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false
  return isLoopback(url.hostname) || (publicUrl !== undefined && url.origin === new URL(publicUrl).origin)
}

/**
 * Whether the Host header is one of our names, on any port. Prevents DNS rebinding, by which a foreign page reaches a
 * service on its visitor's machine.
 */
export function isAllowedHost(host: string, publicUrl: string | undefined): boolean {
  const hostname = URL.parse(`http://${host}`)?.hostname
  if (!hostname) return false
  return isLoopback(hostname) || (publicUrl !== undefined && hostname === new URL(publicUrl).hostname)
}
