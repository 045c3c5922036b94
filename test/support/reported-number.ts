import { setTimeout as sleep } from 'node:timers/promises'
import type { Inlet } from './inlet-process.ts'

/** Sends a signal to a watched process, and returns the number that it prints after this name. */
export async function reportedNumber(
  inlet: Inlet,
  { signal, name }: { signal: NodeJS.Signals; name: string },
): Promise<number> {
  const reports = () => [...inlet.output().matchAll(new RegExp(`^${name} ([\\d.]+)$`, 'gm'))]
  const before = reports().length
  inlet.process.kill(signal)
  while (reports().length === before) {
    if (inlet.process.exitCode !== null) throw new Error('The process has ended.')
    await sleep(5)
  }
  return Number(reports().at(-1)?.[1])
}
