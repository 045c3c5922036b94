import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { ApiResponse } from './app.ts'

interface RawRequest {
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  /** Sent with its length, and without a content type. */
  body?: string | Buffer
  /** Sent in chunks, so that the length is known only at the end. */
  chunks?: Iterable<Buffer>
  /** Of the certificate of an https URL, and where the connection comes from. */
  connection?: Pick<RequestOptions, 'ca' | 'servername' | 'localAddress'>
}

/** A request that fetch would refuse to send: bytes that are no text, chunks, odd headers and addresses. */
export function sendRaw(
  url: string,
  { method, path, headers = {}, body, chunks, connection }: RawRequest,
): Promise<ApiResponse> {
  const { protocol, hostname, port } = new URL(url)
  const request = protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, agent: false, ...connection })
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.setHeader(name, value)
    let hasResponse = false
    sent.on('response', (response) => {
      hasResponse = true
      // The response may arrive before the body was read; the rest of the body is not sent.
      const received = receive(response).finally(() => sent.destroy())
      received.then(resolve, reject)
    })
    sent.on('error', (error) => hasResponse || reject(error))
    if (chunks) {
      sent.setHeader('transfer-encoding', 'chunked')
      for (const chunk of chunks) sent.write(chunk)
    } else if (body !== undefined) {
      sent.setHeader('content-length', Buffer.byteLength(body))
      sent.write(body)
    }
    sent.end()
  })
}

async function receive(response: IncomingMessage): Promise<ApiResponse> {
  const { statusCode = 0, headers } = response
  const type = headers['content-type'] ?? ''
  // A stream of events has no end to wait for.
  const bytes = type.startsWith('text/event-stream') ? Buffer.alloc(0) : await buffer(response)
  const isCompressed = headers['content-encoding'] === 'gzip' && bytes.length > 0
  const text = String(isCompressed ? gunzipSync(bytes) : bytes)
  return {
    status: statusCode,
    headers: new Headers(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])),
    body: text && /\bjson\b/.test(type) ? JSON.parse(text) : text,
  }
}

interface SentBody {
  method: string
  path: string
  body?: string | Buffer
  chunks?: Iterable<Buffer>
  type?: string | undefined
}

/** Sends a body of any type with the admin key. */
export const sendBody = (
  service: { url: string; adminKey: string },
  { method, path, type, ...content }: SentBody,
) =>
  sendRaw(service.url, {
    method,
    path,
    headers: { 'x-api-key': service.adminKey, ...(type !== undefined && { 'content-type': type }) },
    ...content,
  })
