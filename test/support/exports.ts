import { createHash } from 'node:crypto'
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

/** A whole export of these lines: counts and SHA-256 are right. */
export function closed(all: ExportLine[]): string {
  const [header, ...rows] = all.map((line) => `${JSON.stringify(line)}\n`)
  const counts: Record<string, number> = {}
  for (const { kind } of all.slice(1)) counts[kind] = (counts[kind] ?? 0) + 1
  const sha256 = createHash('sha256').update(rows.join('')).digest('hex')
  return `${header}${rows.join('')}${JSON.stringify({ kind: 'end', counts, sha256 })}\n`
}

/** The projects and lists of an export, and so many copies of its last task. */
export function withTasks(text: string, count: number, membersOf: (nth: number) => object): string {
  const lines = linesIn(text)
  const task = lines.findLast(({ kind }) => kind === 'task')
  const tasks = Array.from({ length: count }, (_, nth) => ({
    ...task,
    id: `019aa3d2-6f4e-7cc0-b000-${String(nth).padStart(12, '0')}`,
    ...membersOf(nth),
  }))
  return closed([...lines.filter(({ kind }) => ['header', 'project', 'list'].includes(kind)), ...tasks])
}
