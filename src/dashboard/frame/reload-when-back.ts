const PROBE_MS = 1_500
const RELOADED_AT = 'inlet-reloaded-at'
/** A page that fails again at once, though the service responds, is not loaded over and over. */
const LEAST_BETWEEN_MS = 30_000

/** Loads the page again as soon as the service responds; answers how to stop. */
export function reloadWhenBack(): () => void {
  let wasAway = false
  const timer = setInterval(async () => {
    const response = await fetch('/readyz').catch(() => undefined)
    if (!response?.ok) {
      wasAway = true
      return
    }
    const reloadedAt = Number(sessionStorage.getItem(RELOADED_AT))
    if (!wasAway && Date.now() - reloadedAt < LEAST_BETWEEN_MS) return
    clearInterval(timer)
    sessionStorage.setItem(RELOADED_AT, String(Date.now()))
    location.reload()
  }, PROBE_MS)
  return () => clearInterval(timer)
}
