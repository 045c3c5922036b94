/** The service's clock minus this machine's. */
let offsetMs = 0

/** The Date header is truncated to seconds, so times derived from it are early rather than late. */
export function updateClock(response: Response) {
  const serverNow = Date.parse(response.headers.get('date') ?? '')
  if (Number.isFinite(serverNow)) offsetMs = serverNow - Date.now()
}

export const toServerTime = (localTime: number) => localTime + offsetMs
