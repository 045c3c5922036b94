import { parentPort, Worker } from 'node:worker_threads'

/** The functions of a thread by name. Inputs and outputs are copied. */
export type Jobs = Record<string, (input: never) => unknown>

interface SideThreadOptions {
  /** The module that calls `serveJobs`. */
  file: URL
  /** A job that needs more memory fails, and nothing else does. */
  maxHeapMb: number
  /** Jobs that run longer fail. The start of the thread does not count. */
  deadlineMs?: number
  /** The first job fails if the thread takes longer to start. */
  startDeadlineMs?: number
  /** An idle thread ends after this time. */
  idleMs?: number
  /**
   * The error of a job whose thread ended.
   * @param isOfJob whether the job itself ended it: otherwise the thread did not start, or was closed.
   */
  failureOf(cause: Error, isOfJob: boolean): Error
}

interface Job {
  name: string
  input: unknown
  resolve(output: unknown): void
  reject(error: Error): void
}

type Reply = { output: unknown } | { error: Error } | typeof READY
/** Sent once, when the modules of the thread are loaded. */
const READY = 'ready'

export type SideThread<J extends Jobs> = ReturnType<typeof sideThread<J>>

/**
 * Runs jobs in a thread beside the event loop, one after the other. The thread starts with the first job; if it ends,
 * the current job fails, and the next one starts a new thread.
 */
export function sideThread<J extends Jobs>(options: SideThreadOptions) {
  const {
    file,
    maxHeapMb,
    deadlineMs = 30_000,
    startDeadlineMs = 30_000,
    idleMs = 30_000,
    failureOf,
  } = options
  const waiting: Job[] = []
  let current: Job | undefined
  let worker: Worker | undefined
  let isReady = false
  let timer: NodeJS.Timeout | undefined

  return {
    run<N extends keyof J & string>(name: N, input: Parameters<J[N]>[0]): Promise<Awaited<ReturnType<J[N]>>> {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting.push({ name, input, resolve, reject })
      startNext()
      // The thread responds to a job with the result of the function of that name.
      return promise as Promise<Awaited<ReturnType<J[N]>>>
    },

    /** Ends the thread; unfinished jobs fail. */
    async close(): Promise<void> {
      const ending = worker
      const closed = failureOf(new Error('The thread was closed.'), false)
      for (const job of waiting.splice(0)) job.reject(closed)
      if (ending) lose(ending, closed)
      await ending?.terminate()
    },
  }

  function startNext(): void {
    if (current) return
    current = waiting.shift()
    clearTimeout(timer)
    const running = worker ?? (current && start())
    if (!running) return
    if (!current) {
      running.unref()
      timer = setTimeout(() => lose(running, new Error('It had nothing to do.')), idleMs).unref()
      return
    }
    running.ref()
    setDeadline(running)
    running.postMessage({ name: current.name, input: current.input })
  }

  function setDeadline(running: Worker): void {
    clearTimeout(timer)
    const [what, ms] = isReady ? ['A job', deadlineMs] : ['Its start', startDeadlineMs]
    const cause = new Error(`${what} took longer than ${ms} ms.`)
    timer = setTimeout(() => lose(running, failureOf(cause, isReady)), ms)
  }

  function start(): Worker {
    const started = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    worker = started
    isReady = false
    started.on('message', (reply: Reply) => {
      if (reply === READY) {
        isReady = true
        if (current) setDeadline(started)
        return
      }
      const job = current
      current = undefined
      if ('error' in reply) job?.reject(reply.error)
      else job?.resolve(reply.output)
      startNext()
    })
    started.on('error', (error) => lose(started, failureOf(error as Error, isReady)))
    started.on('exit', (code) =>
      lose(started, failureOf(new Error(`The thread ended with ${code}.`), isReady)),
    )
    return started
  }

  function lose(lost: Worker, failure: Error): void {
    if (lost !== worker) return
    worker = undefined
    clearTimeout(timer)
    void lost.terminate()
    current?.reject(failure)
    current = undefined
    startNext()
  }
}

/** In the thread: runs these functions for jobs. */
export function serveJobs(jobs: Jobs): void {
  parentPort?.on('message', async ({ name, input }: { name: string; input: never }) => {
    try {
      const output = await jobs[name]?.(input)
      parentPort?.postMessage({ output } satisfies Reply)
    } catch (error) {
      parentPort?.postMessage({ error: error as Error } satisfies Reply)
    }
  })
  parentPort?.postMessage(READY satisfies Reply)
}
