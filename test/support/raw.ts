import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
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
    sent.on('response', async (response) => {
      hasResponse = true
      const type = response.headers['content-type'] ?? ''
      const parts: Buffer[] = []
      // A stream of events has no end to wait for.
      if (!type.startsWith('text/event-stream')) for await (const part of response) parts.push(part)
      // The response may arrive before the body was read; the rest of the body is not sent.
      sent.destroy()
      const text = Buffer.concat(parts).toString()
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(
          Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
        ),
        body: text && /\bjson\b/.test(type) ? JSON.parse(text) : text,
      })
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
