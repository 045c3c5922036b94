/** How far the service's clock is ahead of this machine's, which may be anything. */
let aheadMs = 0

/** A header of whole seconds is early rather than late, and so is what is asked for since then. */
export function readClock(response: Response) {
  const told = Date.parse(response.headers.get('date') ?? '')
  if (Number.isFinite(told)) aheadMs = told - Date.now()
}

/** What the service's clock showed when this machine's showed `at`. */
export const serverTime = (at: number) => at + aheadMs
