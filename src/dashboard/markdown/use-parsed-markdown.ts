import { useEffect, useState } from 'react'
import type { Parsed } from './parse.ts'
import { parserOffThread } from './worker-parser.ts'

/** The longest descriptions take a slow computer half as long. */
const DEADLINE_MS = 2_000

const parser = parserOffThread({
  start({ onMessage, onError }) {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }) => onMessage(data)
    worker.onerror = onError
    return worker
  },
  deadlineMs: DEADLINE_MS,
})

/** What Markdown becomes; undefined while it is on its way, and without a text. */
export function useParsed(text: string | undefined): Parsed | undefined {
  const [parsed, setParsed] = useState<{ text: string; result: Parsed }>()
  useEffect(() => {
    if (text !== undefined && !parser.known(text))
      return parser.parse(text, (result) => setParsed({ text, result }))
  }, [text])
  if (text === undefined) return undefined
  return parser.known(text) ?? (parsed?.text === text ? parsed.result : undefined)
}
