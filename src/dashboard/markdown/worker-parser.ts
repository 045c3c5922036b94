import type { Parsed } from './parse.ts'

/** What is needed of a worker. */
export interface ParserWorker {
  postMessage(text: string): void
  terminate(): void
}

export interface WorkerEvents {
  /** It says `ready` first, then answers each text with what became of it. */
  onMessage(message: 'ready' | Parsed): void
  onError(): void
}

interface OffThread {
  start(events: WorkerEvents): ParserWorker
  deadlineMs: number
}

interface Job {
  text: string
  isWanted: boolean
  done(parsed: Parsed): void
}

/** So many results are kept: whoever comes back to a task sees its text at once. */
const MAX_KEPT = 30

/**
 * Parses texts one after the other in a worker. One that takes too long is ended with its worker; the next text gets
 * a new one.
 */
export function parserOffThread({ start, deadlineMs }: OffThread) {
  const kept = new Map<string, Parsed>()
  const queue: Job[] = []
  let worker: ParserWorker | undefined
  let isReady = false
  let current: Job | undefined
  let deadline: ReturnType<typeof setTimeout> | undefined

  function next() {
    if (current) return
    current = queue.shift()
    while (current && !current.isWanted) current = queue.shift()
    if (!current) return
    if (!worker) startWorker()
    else if (isReady) send()
  }

  function startWorker() {
    isReady = false
    const mine = start({
      onMessage(message) {
        // What an ended worker had still to say is of no use.
        if (worker !== mine) return
        if (message !== 'ready') return settle(message)
        isReady = true
        send()
      },
      onError() {
        if (worker === mine) end('not-available')
      },
    })
    worker = mine
  }

  function send() {
    if (!current || !worker) return
    worker.postMessage(current.text)
    deadline = setTimeout(() => end('too-slow'), deadlineMs)
  }

  function end(plainBecause: 'too-slow' | 'not-available') {
    worker?.terminate()
    worker = undefined
    settle({ plainBecause })
  }

  function settle(parsed: Parsed) {
    clearTimeout(deadline)
    const job = current
    current = undefined
    if (job) {
      keep(job.text, parsed)
      job.done(parsed)
    }
    next()
  }

  function keep(text: string, parsed: Parsed) {
    // It may be available the next time.
    if ('plainBecause' in parsed && parsed.plainBecause === 'not-available') return
    kept.delete(text)
    kept.set(text, parsed)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
  }

  return {
    /** What became of a text, where that is known. */
    known: (text: string): Parsed | undefined => kept.get(text),
    /** Parses a text after those before it; answers how to do without it. */
    parse(text: string, done: (parsed: Parsed) => void): () => void {
      const job: Job = { text, isWanted: true, done: (parsed) => job.isWanted && done(parsed) }
      queue.push(job)
      next()
      return () => {
        job.isWanted = false
      }
    },
  }
}
