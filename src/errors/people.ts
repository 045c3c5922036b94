import { AppError } from './app-error.ts'
import { validationFailed } from './requests.ts'

export const userNotFound = (id: string) =>
  new AppError('user_not_found', { detail: `Person ${id} not found.` })

export const usernameTaken = (username: string) =>
  new AppError('username_taken', { detail: `The username ${JSON.stringify(username)} is taken.` })

export const lastOwner = (name: string) =>
  new AppError('last_owner', {
    detail: `${JSON.stringify(name)} is the last active owner. Make somebody else an owner first.`,
  })

export const inviteNotFound = (id: string) =>
  new AppError('invite_not_found', { detail: `Invite ${id} not found.` })

export const inviteInvalid = () =>
  new AppError('invite_invalid', {
    detail:
      'The invite was accepted or withdrawn, has expired, or its creator may no longer invite. Ask for a new one.',
  })

export const invalidPassword = () =>
  new AppError('invalid_credentials', { detail: 'The username or the password is wrong.' })

/** The same whatever was wrong with it: nobody learns which passkeys there are. */
export const invalidPasskey = () =>
  new AppError('invalid_credentials', {
    detail:
      'Signing in with this passkey failed: it is not one of Inlet, or the attempt was used or has expired. Try again.',
  })

/** A passkey that a browser created, at this path of the body. */
export const invalidCredential = (path: string) =>
  validationFailed([
    {
      path,
      code: 'invalid',
      message:
        'must be created in this browser, with user verification, for a challenge of the last ten minutes that was not used',
    },
  ])

export const passkeyNotFound = (id: string) =>
  new AppError('passkey_not_found', { detail: `Passkey ${id} not found.` })

export const passkeyTaken = () =>
  new AppError('passkey_taken', { detail: 'This passkey was added before. Add another one.' })

export const tooManyPasskeys = (max: number) =>
  new AppError('too_many_passkeys', { detail: `You have ${max} passkeys. Remove one first.` })

export const lastWayIn = () =>
  new AppError('last_way_in', {
    detail:
      'You have no other way to sign in. Set a password, add a passkey, or link an identity provider first.',
  })

export const passkeysNotAllowed = () =>
  new AppError('public_url_missing', {
    detail:
      'Browsers allow passkeys only under https, at a host name. Set PUBLIC_URL to such an address, or use http://localhost.',
  })

export const personRequired = () =>
  new AppError('person_required', {
    detail: 'Only a person who is signed in can do this. Sign in with your username and password.',
  })

export const actingPersonRequired = () =>
  new AppError('person_required', {
    detail: 'Only a person can do this, and a service key is nobody. Sign in, or use a personal key.',
  })

export const personRequiredForMe = () =>
  new AppError('person_required', {
    detail:
      'The assignee @me is the person who asks, and a service key is nobody. Name a username, sign in as a person, or use a personal key.',
  })

export const personalKey = () =>
  new AppError('personal_key', {
    detail: 'This is a personal key, which opens no session. Sign in as its person.',
  })

export const beyondPersonalKey = () =>
  new AppError('personal_key', {
    detail:
      'A personal key neither creates keys nor manages people. Sign in as its person, or use an admin key of your own system.',
  })

export const tooManyKeys = (limit: number) =>
  new AppError('too_many_keys', {
    detail: `You have ${limit} personal keys, as many as a person can have. Revoke one first.`,
  })

export const serviceKeyRequired = () =>
  new AppError('service_key_required', {
    detail:
      'An import replaces all people, so it needs an admin key of all projects that is no personal key.',
  })

export const signInAgain = () =>
  new AppError('sign_in_again', {
    detail: 'You signed in more than ten minutes ago. Sign in again to change what you sign in with.',
  })

export const expiringCredentials = () =>
  new AppError('insufficient_scope', {
    detail:
      'People and invites are managed by an owner, or with an admin key that does not expire. Use one of these.',
    requiredScope: 'admin',
  })

export const identityProviderNotFound = (id: string) =>
  new AppError('identity_provider_not_found', { detail: `Identity provider ${id} not found.` })

export const identityNotFound = (id: string) =>
  new AppError('identity_not_found', { detail: `Link ${id} to an identity provider not found.` })

export const roleManagedByProvider = (name: string) =>
  new AppError('role_managed_by_provider', {
    detail: `The groups at the identity provider decide the role of ${JSON.stringify(name)} at each sign-in. Change them there.`,
  })

export const identityProviderExists = (issuer: string) =>
  new AppError('identity_provider_exists', {
    detail: `There is an identity provider with the issuer ${JSON.stringify(issuer)} already.`,
  })

export const identityProviderInUse = (count: number) =>
  new AppError('identity_provider_in_use', {
    detail:
      count === 1
        ? 'One person has no other way to sign in. Set confirm=true to delete it nevertheless.'
        : `${count} people have no other way to sign in. Set confirm=true to delete it nevertheless.`,
  })

export const identityProviderReadOnly = () =>
  new AppError('identity_provider_read_only', {
    detail:
      'The environment describes this identity provider. Change OIDC_ISSUER, OIDC_CLIENT_ID or OIDC_CLIENT_SECRET.',
  })

export const tooManyIdentityProviders = (max: number) =>
  new AppError('too_many_identity_providers', { detail: `At most ${max} identity providers can exist.` })

export const publicUrlMissing = () =>
  new AppError('public_url_missing', {
    detail: 'Identity providers return to PUBLIC_URL, which is not set.',
  })

export const identityProviderUnreachable = (reason: string) =>
  new AppError('identity_provider_unreachable', { detail: reason })
