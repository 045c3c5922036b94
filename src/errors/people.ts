import { AppError } from './app-error.ts'

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
