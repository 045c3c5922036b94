/**
 * Calls back once the process that started this one has ended. Windows does not say so: there it never calls.
 * Does not keep this process alive.
 */
export function onParentEnd(callback: () => void, { pollMs = 500 } = {}): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    callback()
  }, pollMs)
  timer.unref()
}
