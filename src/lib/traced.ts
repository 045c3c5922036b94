import { AsyncLocalStorage } from 'node:async_hooks'

/** What a trace shows of a piece of work. The names are those of OpenTelemetry's semantic conventions. */
export interface Work {
  name: string
  /**
   * `request`: to another system; shown only as part of other work. `job`: begins a trace. `batch`: is done for its
   * causes, and part of the first one's trace.
   */
  kind: 'request' | 'job' | 'batch'
  attributes?: Attributes
  /** What this is done for, each from `currentWork`. */
  causes?: unknown[]
}

export type Attributes = Record<string, string | number>

/** Adds what is known only later. An `error.type` means that the work failed. */
export type Note = (attributes: Attributes) => void

export interface Tracing {
  current(): unknown
  /** Whether the current work is part of a trace that is kept. */
  isRecording(): boolean
  trace<T>(work: Work, run: (note: Note) => Promise<T>): Promise<T>
  /** Fields of a log line. */
  logFields(): object
}

let tracing: Tracing | undefined

/** Turns traces on for this process. */
export function traceWith(given: Tracing | undefined): void {
  tracing = given
}

/** Does the work, as part of a trace if traces are on. */
export function traced<T>(work: Work, run: (note: Note) => Promise<T>): Promise<T> {
  return tracing ? tracing.trace(work, run) : run(ignore)
}

/** Does the work as part of what is being done now. Its parts, such as statements, are too many to be shown. */
export const tracedAsOne = <T>(name: string, run: () => Promise<T>): Promise<T> =>
  traced({ name, kind: 'batch', causes: [currentWork()] }, () => detached(run))

/** Begins work that is done bit by bit, such as at a reader's pace. To be called at its end, with the error if any. */
export function begun(work: Work): (error?: Error) => void {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  traced(work, () => promise).catch(ignore)
  return (error) => (error ? reject(error) : resolve())
}

/** Whether requests to other systems are part of a trace now. */
export const isRecorded = (): boolean => tracing?.isRecording() ?? false

/** What is being done, for the `causes` of other work. */
export const currentWork = (): unknown => tracing?.current()

/** What is being done, for log lines. */
export const workLogged = (): object => tracing?.logFields() ?? {}

/** Calls a function as part of nothing: for loops that serve more than the request that starts them. */
export const detached: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()

/** Keeps a function part of what is being done now, whoever calls it. */
export const attached = <Args extends unknown[], Result>(
  run: (...args: Args) => Result,
): ((...args: Args) => Result) => (tracing ? AsyncLocalStorage.bind(run) : run)

function ignore(): void {}
