/**
 * Calls back when the parent process has ended. Never calls on Windows, where this cannot be detected. Does not keep
 * this process alive.
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
