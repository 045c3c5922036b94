import type { TestApp } from './app.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }

/** The text of an export. */
export async function exported(service: Pick<TestApp, 'url' | 'adminKey'>): Promise<string> {
  const response = await fetch(`${service.url}/api/export`, { headers: { 'x-api-key': service.adminKey } })
  return response.text()
}

export const importInto = (service: Pick<TestApp, 'post'>, text: string) =>
  service.post('/api/import', text, { headers: NDJSON })

/** The lines that two exports of the same data have in common. */
export const withoutHeader = (text: string) => text.slice(text.indexOf('\n') + 1)

// biome-ignore lint/suspicious/noExplicitAny: each kind of line has its own members.
export type ExportLine = Record<string, any>

export const linesIn = (text: string): ExportLine[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
