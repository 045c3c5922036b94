import type { Caller } from '../../src/services/access.ts'

const ID = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

/** A caller with an administrator's key of all projects, except for what is given. */
export const callerWith = ({ id = ID, ...given }: Partial<Omit<Caller, 'principal'>> = {}): Caller => ({
  channel: 'api',
  id,
  principal: { type: 'key', id },
  name: 'a key',
  scopes: ['admin'],
  projectIds: null,
  expiresAt: null,
  ...given,
})
