import { useEffect, useState } from 'react'
import type { Parsed } from './parse.ts'
import { createWorkerParser } from './worker-parser.ts'

/** The longest descriptions take a slow computer one second. */
const DEADLINE_MS = 2_000

const parser = createWorkerParser({
  start({ onMessage, onError }) {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }) => onMessage(data)
    worker.onerror = onError
    return worker
  },
  deadlineMs: DEADLINE_MS,
})

/** The parsed text; undefined while it is being parsed, or without a text. */
export function useParsedMarkdown(text: string | undefined): Parsed | undefined {
  const [parsed, setParsed] = useState<{ text: string; result: Parsed }>()
  useEffect(() => {
    if (text !== undefined && !parser.cached(text))
      return parser.parse(text, (result) => setParsed({ text, result }))
  }, [text])
  if (text === undefined) return undefined
  return parser.cached(text) ?? (parsed?.text === text ? parsed.result : undefined)
}
