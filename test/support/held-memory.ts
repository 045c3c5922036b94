import type { Inlet } from './inlet-process.ts'
import { reportedNumber } from './reported-number.ts'

/**
 * How many bytes more a watched process holds at most while the work is done than before. Unlike its resident memory, this
 * does not depend on when garbage is collected, which waits for a processor on a busy machine.
 */
export async function heldMemoryOf<T>(inlet: Inlet, work: () => Promise<T>) {
  const report = () => reportedNumber(inlet, { signal: 'SIGURG', name: 'held memory' })
  const before = await report()
  let result: T
  let held: number
  try {
    result = await work()
  } finally {
    held = (await report()) - before
  }
  return { result, held }
}
