const AGAIN = 'Try again.'
const ASK = 'Ask an owner of Inlet.'

/** Why a sign-in at an identity provider failed, by the code in the address. */
const TEXTS: Record<string, string> = {
  public_url_missing:
    'Identity providers need the public address of Inlet. Ask its operator to set PUBLIC_URL.',
  import_in_progress: 'An import into Inlet is in progress. Try again when it has ended.',
  provider_off: `This identity provider is switched off. ${ASK}`,
  provider_unreachable: `The identity provider is down, or its settings are wrong. Try again later, or sign in in another way.`,
  provider_rejected: `The identity provider did not accept the sign-in: the client ID or the secret in Inlet may be wrong. ${ASK}`,
  provider_denied: `You did not sign in at the identity provider, or it did not let you in. ${AGAIN}`,
  response_invalid: `The response of the identity provider could not be verified, so nobody was signed in. ${AGAIN}`,
  attempt_invalid: `The sign-in took longer than ten minutes, or began in another browser or tab. ${AGAIN}`,
  return_invalid: 'The link that you opened leads to another site.',
  too_many_attempts: 'There were too many sign-ins from your network. Try again in a minute.',
  group_required: `You are not in the group that may use Inlet. ${ASK}`,
  not_invited: `Nobody with this account has been invited. Accept your invite first, or sign in and link the provider under Settings > Account.`,
  not_allowed: `Your account at the identity provider may not use Inlet: its address is not verified, or not of an allowed domain. ${ASK}`,
  deactivated: `Your account in Inlet was deactivated. ${ASK}`,
  identity_taken: 'This account at the identity provider belongs to another person in Inlet.',
  invite_invalid:
    'This invite is no longer valid: it was used or withdrawn, or it has expired. Ask for a new one.',
  username_taken: 'The username was taken meanwhile. Open your invite again, and choose another one.',
}

/** Undefined if nothing failed. */
export function signInErrorText(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined
  return Object.hasOwn(TEXTS, code) ? TEXTS[code] : `The sign-in failed. ${AGAIN}`
}
