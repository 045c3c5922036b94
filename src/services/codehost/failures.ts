import type { Refusal, Unreachable } from '../../clients/codehost.ts'

interface Response {
  outcome: string
}

export const isRefusal = (response: Response): response is Refusal => response.outcome === 'refused'

export const isUnreachable = (response: Response): response is Unreachable =>
  response.outcome === 'unreachable'

/** Whether the code host refused a request, or did not respond as expected. */
export const isFailure = (response: Response): response is Refusal | Unreachable =>
  isRefusal(response) || isUnreachable(response)

/** In the log, of a delivery that cannot be verified, as a secret cannot be decrypted. */
export const SECRET_UNREADABLE = 'secret_unreadable'

/** Logs what failed for good: a run, a delivery, or a write. */
export type LogFailure = (
  about: { code: string; projectId: string } & Record<string, unknown>,
  message:
    | 'sync failed'
    | 'delivery of the code host failed'
    | 'delivery of a source failed'
    | 'write-back failed',
) => void
