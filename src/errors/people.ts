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
    detail: 'You have no other way to sign in. Add another passkey, or set a password first.',
  })

export const publicUrlMissing = () =>
  new AppError('public_url_missing', {
    detail:
      'Browsers allow passkeys only under https, at a host name. Set PUBLIC_URL to such an address, or use http://localhost.',
  })

export const personRequired = () =>
  new AppError('person_required', {
    detail: 'Only a person who is signed in can do this. Sign in with your username and password.',
  })

export const personalKey = () =>
  new AppError('personal_key', {
    detail: 'This is a personal key, which opens no session. Sign in as its person.',
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
