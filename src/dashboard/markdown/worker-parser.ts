import type { Parsed } from './parse.ts'

/** The part of `Worker` used here. */
export interface ParserWorker {
  postMessage(text: string): void
  terminate(): void
}

export interface WorkerEvents {
  /** A worker sends `ready` once it is loaded, then one result per text. */
  onMessage(message: 'ready' | Parsed): void
  onError(): void
}

interface WorkerParserOptions {
  start(events: WorkerEvents): ParserWorker
  deadlineMs: number
}

interface Job {
  text: string
  isActive: boolean
  onParsed(parsed: Parsed): void
}

/** Cached results render a task at once when it is opened again. */
const MAX_RESULTS = 30

/**
 * Parses texts in a worker, one at a time. At the deadline the worker is terminated and the next text starts a new
 * one.
 */
export function createWorkerParser({ start, deadlineMs }: WorkerParserOptions) {
  const results = new Map<string, Parsed>()
  const queue: Job[] = []
  let worker: ParserWorker | undefined
  let isReady = false
  let current: Job | undefined
  let deadline: ReturnType<typeof setTimeout> | undefined

  function startNext() {
    if (current) return
    current = queue.shift()
    while (current && !current.isActive) current = queue.shift()
    if (!current) return
    if (!worker) startWorker()
    else if (isReady) send()
  }

  function startWorker() {
    isReady = false
    const started = start({
      onMessage(message) {
        // Late messages of a terminated worker are ignored.
        if (worker !== started) return
        if (message !== 'ready') return finish(message)
        isReady = true
        send()
      },
      onError() {
        if (worker === started) stopWorker('not-available')
      },
    })
    worker = started
  }

  function send() {
    if (!current || !worker) return
    worker.postMessage(current.text)
    deadline = setTimeout(() => stopWorker('too-slow'), deadlineMs)
  }

  function stopWorker(plainBecause: 'too-slow' | 'not-available') {
    worker?.terminate()
    worker = undefined
    finish({ plainReason: plainBecause })
  }

  function finish(parsed: Parsed) {
    clearTimeout(deadline)
    const job = current
    current = undefined
    if (job) {
      store(job.text, parsed)
      job.onParsed(parsed)
    }
    startNext()
  }

  function store(text: string, parsed: Parsed) {
    // The worker may load the next time.
    if ('plainReason' in parsed && parsed.plainReason === 'not-available') return
    results.delete(text)
    results.set(text, parsed)
    for (const oldest of results.keys()) {
      if (results.size <= MAX_RESULTS) break
      results.delete(oldest)
    }
  }

  return {
    /** The cached result of a text. */
    cached: (text: string): Parsed | undefined => results.get(text),
    /** Queues a text. Returns a function that cancels it. */
    parse(text: string, onParsed: (parsed: Parsed) => void): () => void {
      const job: Job = { text, isActive: true, onParsed: (parsed) => job.isActive && onParsed(parsed) }
      queue.push(job)
      startNext()
      return () => {
        job.isActive = false
      }
    },
  }
}
