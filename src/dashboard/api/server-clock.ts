/** The service's clock minus this machine's. */
let offsetMs = 0

/** The Date header is truncated to seconds, so times derived from it are early rather than late. */
export function updateClock(response: Response) {
  const time = Date.parse(response.headers.get('date') ?? '')
  if (Number.isFinite(time)) offsetMs = time - Date.now()
}

export const toServerTime = (localTime: number) => localTime + offsetMs

/** The time by the service's clock: this machine's may be wrong. */
export const serverNow = () => toServerTime(Date.now())
