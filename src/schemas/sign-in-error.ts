/** Why a sign-in at an identity provider failed: the `error` of the sign-in page. */
export const SignInError = [
  'public_url_missing',
  'import_in_progress',
  'provider_off',
  'provider_unreachable',
  'provider_rejected',
  'provider_denied',
  'response_invalid',
  'attempt_invalid',
  'return_invalid',
  'too_many_attempts',
  'group_required',
  'not_invited',
  'not_allowed',
  'deactivated',
  'identity_taken',
  'invite_invalid',
  'username_taken',
] as const
export type SignInError = (typeof SignInError)[number]
