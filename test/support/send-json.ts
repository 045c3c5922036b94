import { ADMIN_KEY } from './inlet-process.ts'

export interface JsonRequest {
  method?: string
  body?: object | undefined
  headers?: Record<string, string>
}

/** Sends a request with the key of `ADMIN_KEY`, unless the headers have another one. */
export function sendJson(url: string, { method = 'GET', body, headers = {} }: JsonRequest = {}) {
  return fetch(url, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
}
