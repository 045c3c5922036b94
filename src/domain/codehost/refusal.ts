/** A response of the code host with an error status. */
export interface HostRefusal {
  status: number
  message: string
  retryAfter: string | null
  singleSignOn: string | null
  limits: { remaining: number | null; resetAt: Date | null }
  /** The host refused the GitHub App a token. */
  isTokenRequest?: true
}

export type Judgement =
  | { verdict: 'wait'; retryAt: Date /** True if the host did not say how long. */; isGuess: boolean }
  | {
      verdict: 'fail'
      code: 'codehost_token_rejected' | 'codehost_repository_not_found' | 'codehost_access_denied'
      /** What the user can do about it. */
      message: string
    }

const SECOND = 1_000
const MAX_GUESS = 3_600 * SECOND
const MAX_WAIT = 24 * 3_600 * SECOND

interface Circumstances {
  now: Date
  /** What the request was sent with. */
  access: { token: string | null; app?: object | undefined }
  /** Consecutive rate limits whose duration had to be guessed. */
  limitedBefore: number
}

/** Decides whether to wait and until when, or to fail with a message. */
export function judgeRefusal(refusal: HostRefusal, circumstances: Circumstances): Judgement {
  return isRateLimit(refusal) ? waitOf(refusal, circumstances) : failureOf(refusal, circumstances)
}

/** A 403 is a rate limit when one of three signs says so; enterprise hosts may send no headers. */
function isRateLimit({ status, message, retryAfter, limits }: HostRefusal): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return limits.remaining === 0 || retryAfter !== null || /rate limit|abuse detection/i.test(message)
}

function waitOf({ retryAfter, limits }: HostRefusal, { now, limitedBefore }: Circumstances): Judgement {
  // A time that is over already tells nothing: the host has refused the request nevertheless.
  const waitMs = waitFromHeader(retryAfter, now)
  if (waitMs !== undefined && waitMs > 0) return until(now, waitMs)
  const resetMs = limits.remaining === 0 && limits.resetAt ? limits.resetAt.getTime() - now.getTime() : 0
  // The clocks may differ, and a request one second late costs less than one that is early.
  if (waitMs === undefined && resetMs > 0) return until(now, Math.max(resetMs + SECOND, 5 * SECOND))
  const guess = Math.min(60 * SECOND * 2 ** Math.min(limitedBefore, 10), MAX_GUESS)
  return { ...until(now, guess), isGuess: true }
}

const until = (now: Date, ms: number) => ({
  verdict: 'wait' as const,
  retryAt: new Date(now.getTime() + Math.min(Math.max(ms, SECOND), MAX_WAIT)),
  isGuess: false,
})

/** Milliseconds of a Retry-After header: seconds or a date (RFC 9110, 10.2.3). */
function waitFromHeader(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : date - now.getTime()
}

function failureOf(refusal: HostRefusal, { access }: Circumstances): Judgement {
  const { code, advice } = refusal.isTokenRequest ? appAdviceOf(refusal) : adviceOf(refusal, access)
  const hostMessage = refusal.message ? ` Message from the code host: ${refusal.message}` : ''
  return { verdict: 'fail', code, message: advice + hostMessage }
}

interface Advice {
  code: (Judgement & { verdict: 'fail' })['code']
  advice: string
}

function adviceOf(
  { status, message, singleSignOn }: HostRefusal,
  { token, app }: Circumstances['access'],
): Advice {
  const pick = (words: { app: string; token: string; none: string }) =>
    app ? words.app : token === null ? words.none : words.token
  switch (status) {
    case 401:
      return {
        code: 'codehost_token_rejected',
        advice: pick({
          app: 'The code host rejects the tokens of the GitHub App, also new ones. Try again later.',
          token: 'The token is invalid, expired or revoked. Connect the repository again with a new one.',
          none: 'The code host requires a token. Connect the repository with one.',
        }),
      }
    case 403:
      return {
        code: 'codehost_access_denied',
        advice: singleSignOn
          ? `Authorize the token for single sign-on at ${singleSignOn}, then sync again.`
          : pick({
              app: /suspended/i.test(message)
                ? SUSPENDED
                : 'The GitHub App cannot read the issues of this repository. Grant it read access to issues and pull requests, and accept the new permissions in its installation.',
              token:
                'The token cannot read the issues of this repository. Grant it read access to issues and pull requests.',
              none: 'The repository requires a token. Connect it with one that can read issues and pull requests.',
            }),
      }
    case 404:
      return {
        code: 'codehost_repository_not_found',
        advice: pick({
          app: 'The repository does not exist, or the installation of the GitHub App has no access to it. Check the name and the repositories of the installation.',
          token:
            'The repository does not exist, or the token cannot see it. Check the name and the repositories that the token has access to.',
          none: 'No public repository has this name. Check the name; a private repository requires a token.',
        }),
      }
    case 410:
      return {
        code: 'codehost_access_denied',
        advice: 'Issues are disabled in this repository. Enable them there.',
      }
    case 451:
      return { code: 'codehost_access_denied', advice: 'The repository is blocked for legal reasons.' }
    default:
      return { code: 'codehost_access_denied', advice: `The code host returned status ${status}.` }
  }
}

const SUSPENDED =
  'The GitHub App has no access, because its installation is suspended. Unsuspend it at the code host.'

/** Advice for a GitHub App that gets no token. */
function appAdviceOf({ status, message }: HostRefusal): Advice {
  switch (status) {
    case 401:
      return {
        code: 'codehost_token_rejected',
        // The adapter already allows for the difference that the host's `Date` header shows.
        advice: /'(?:exp|iat)'/.test(message)
          ? 'The code host rejects the time in the request of the GitHub App. Synchronize the clock of this server.'
          : 'The code host rejects the private key or the app ID of the GitHub App. Check both, or create a new private key in the settings of the App.',
      }
    case 403:
      return {
        code: 'codehost_access_denied',
        advice: SUSPENDED,
      }
    case 404:
      return {
        code: 'codehost_token_rejected',
        advice:
          'The GitHub App has no installation with this ID. Check the app ID and the installation ID. If the App was uninstalled, install it again.',
      }
    default:
      return {
        code: 'codehost_access_denied',
        advice: `The code host returned status ${status} for the GitHub App.`,
      }
  }
}
