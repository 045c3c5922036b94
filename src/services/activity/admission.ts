import { invalidCredentials } from '../../errors/index.ts'
import type { AccessService, Caller } from '../access.ts'

export interface AdmissionDeps {
  access: Pick<AccessService, 'admissionOf' | 'onForget'>
  /** How often the caller is checked again: a revoked key receives nothing more. */
  checkMs?: number | undefined
  /** Limits concurrent reads. */
  limit<T>(work: () => Promise<T>): Promise<T>
}

/** For responses that outlive the check of their request: aborts the controller when the rights of the caller change. */
export function admission({ access, checkMs = 5_000, limit }: AdmissionDeps) {
  return function endWithAccess(caller: Caller, ending: AbortController): void {
    async function check() {
      // While the database is unavailable there are no events and no new callers.
      const admission = await limit(() => access.admissionOf(caller)).catch(() => 'same' as const)
      if (admission === 'ended') ending.abort(invalidCredentials())
      // The client sends the request again, with the rights that it has now.
      if (admission === 'changed') ending.abort()
    }
    // At once after a revocation on any instance, and periodically for expiry.
    const unlisten = access.onForget(check)
    const timer = setInterval(check, checkMs)
    const stop = () => {
      clearInterval(timer)
      unlisten()
    }
    if (ending.signal.aborted) stop()
    else ending.signal.addEventListener('abort', stop)
  }
}
