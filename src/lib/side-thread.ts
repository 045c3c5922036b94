import { parentPort, type Transferable, Worker } from 'node:worker_threads'

/** What a thread can be asked for, by name. Inputs and outputs are copied, or handed over where they are listed. */
export type Jobs = Record<string, (input: never) => unknown>

interface SideThreadOptions {
  /** The module that calls `serveJobs`. */
  file: URL
  /** A job that needs more memory fails, and nothing else does. */
  maxHeapMb: number
  /** Jobs that wait may hold so many bytes together, a single one more. */
  maxWaitingBytes?: number
  /** What a caller gets whose job would wait beyond that. */
  refusalWhenFull?(): Error
  /** A job that takes longer fails. */
  deadlineMs?: number
  /** A thread with nothing to do ends after so long. */
  idleMs?: number
  /** What a caller gets whose job went down with the thread. */
  failureOf(cause: Error): Error
}

interface Job {
  name: string
  input: unknown
  transfer: Transferable[]
  resolve(output: unknown): void
  reject(error: Error): void
}

type Reply = { output: unknown } | { error: Error }

export type SideThread<J extends Jobs> = ReturnType<typeof sideThread<J>>

/**
 * Does work in a thread beside the event loop, one job after the other. The thread starts with the first job; whatever
 * ends it fails the job at hand, and the next one gets a new thread.
 */
export function sideThread<J extends Jobs>(options: SideThreadOptions) {
  const { file, maxHeapMb, deadlineMs = 30_000, idleMs = 30_000, failureOf } = options
  const {
    maxWaitingBytes = Number.POSITIVE_INFINITY,
    refusalWhenFull = () => failureOf(new Error('Too many jobs wait.')),
  } = options
  const waiting: Job[] = []
  let current: Job | undefined
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined

  return {
    run<N extends keyof J & string>(
      name: N,
      input: Parameters<J[N]>[0],
      transfer: Transferable[] = [],
    ): Promise<Awaited<ReturnType<J[N]>>> {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const waitingBytes = waiting.reduce((sum, { input }) => sum + bytesOf(input), 0)
      if (waiting.length > 0 && waitingBytes + bytesOf(input) > maxWaitingBytes) {
        return Promise.reject(refusalWhenFull())
      }
      waiting.push({ name, input, transfer, resolve, reject })
      startNext()
      // The thread answers a job with what the function of that name returned.
      return promise as Promise<Awaited<ReturnType<J[N]>>>
    },

    /** Ends the thread; jobs that are not done fail. */
    async close(): Promise<void> {
      const ending = worker
      for (const job of waiting.splice(0)) job.reject(failureOf(new Error('The thread was closed.')))
      if (ending) lose(ending, new Error('The thread was closed.'))
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
    timer = setTimeout(() => lose(running, new Error(`A job took longer than ${deadlineMs} ms.`)), deadlineMs)
    running.postMessage({ name: current.name, input: current.input }, current.transfer)
  }

  function start(): Worker {
    const started = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    worker = started
    started.on('message', (reply: Reply) => {
      const job = current
      current = undefined
      if ('error' in reply) job?.reject(reply.error)
      else job?.resolve(reply.output)
      startNext()
    })
    started.on('error', (error) => lose(started, error as Error))
    started.on('exit', (code) => lose(started, new Error(`The thread ended with ${code}.`)))
    return started
  }

  function lose(lost: Worker, cause: Error): void {
    if (lost !== worker) return
    worker = undefined
    clearTimeout(timer)
    void lost.terminate()
    current?.reject(failureOf(cause))
    current = undefined
    startNext()
  }
}

const bytesOf = (input: unknown) => (input instanceof Uint8Array ? input.byteLength : 0)

/** In the thread: answers jobs with what these functions return. Bytes among its members are handed over, not copied. */
export function serveJobs(jobs: Jobs): void {
  parentPort?.on('message', async ({ name, input }: { name: string; input: never }) => {
    try {
      const output = await jobs[name]?.(input)
      parentPort?.postMessage({ output } satisfies Reply, bytesIn(output))
    } catch (error) {
      parentPort?.postMessage({ error: error as Error } satisfies Reply)
    }
  })
}

/** Of a member that has its memory to itself. */
const bytesIn = (output: unknown): ArrayBuffer[] =>
  Object.values(Object(output)).flatMap((member) =>
    member instanceof Uint8Array &&
    member.buffer instanceof ArrayBuffer &&
    member.byteLength === member.buffer.byteLength
      ? [member.buffer]
      : [],
  )
