import { type RelyingParty, relyingPartyOf } from '../../domain/relying-party.ts'
import { hashOf } from '../../domain/secret.ts'
import { invalidCredential, passkeysNotAllowed } from '../../errors/index.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { PasskeyRow } from '../../repositories/people/passkeys.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type {
  PasskeyCreationOptions,
  PasskeyRegistration,
  PasskeyRequestOptions,
} from '../../schemas/passkey.ts'
import { ALGORITHMS, credentialOf } from './webauthn.ts'

export const MAX_PASSKEYS = 20

/** How long browsers wait: shorter than a challenge is valid. */
const TIMEOUT_MS = 5 * 60_000

interface ChallengesDeps {
  repos: Repositories
  randomBytes(size: number): Buffer
  publicUrl: string | undefined
}

/** Options for the browser, and the value of the cookie that ties them to it. */
export interface Begun<Options> {
  options: Options
  token: string
}

/** What a challenge is for: to sign in, to add a passkey to an account, or to accept an invite. */
type Purpose = { name: 'sign in' } | { name: 'add' } | InvitePurpose

interface InvitePurpose {
  name: 'invite'
  inviteId: string
  /** Of the person, also of one who will be created. */
  personId: string
}

type PurposeName = Purpose['name']

interface Checks {
  kind: typeof KIND
  challenge: string
  party: RelyingParty
  purpose: Purpose
}

interface Challenge<Name extends PurposeName> {
  /** The person who began it, if there was one. */
  userId: string | null
  checks: Checks
  purpose: Extract<Purpose, { name: Name }>
}

interface Creation {
  /** Who gets the passkey. */
  holder: Pick<UserRow, 'id' | 'username' | 'name'>
  /** The same, if the person exists. */
  userId: string | null
  purpose: Exclude<Purpose, { name: 'sign in' }>
}

/** A passkey that a browser created, as it is stored. */
export type CreatedPasskey = Pick<
  PasskeyRow,
  'credentialId' | 'publicKey' | 'counter' | 'rpId' | 'transports'
>

interface NewCredential<Name> {
  purpose: Name
  credential: PasskeyRegistration
  token: string | undefined
  /** Where it is in the body. */
  path: string
}

export type PasskeyChallenges = ReturnType<typeof passkeyChallenges>

/** Challenges that passkeys sign. Each is for one purpose and one browser, is valid for ten minutes, and is used once. */
export function passkeyChallenges({ repos, randomBytes, publicUrl }: ChallengesDeps) {
  return {
    /** Whether browsers allow passkeys at this address. */
    isPossibleAt: (origin: string): boolean => relyingPartyOf({ publicUrl, origin }) !== undefined,

    /** @throws public_url_missing */
    async beginSignIn(origin: string): Promise<Begun<PasskeyRequestOptions>> {
      const purpose = { name: 'sign in' } as const
      const { challenge, party, token } = await begin(origin, { purpose, userId: null })
      const options = { challenge, rpId: party.id, timeout: TIMEOUT_MS, userVerification: 'required' }
      return { options, token }
    },

    takeSignIn: (token: string | undefined) => take('sign in', token),

    /**
     * Begins to create a passkey for a person, or for somebody who accepts an invite.
     * @throws public_url_missing
     */
    async beginCreation(
      origin: string,
      { holder, userId, purpose }: Creation,
    ): Promise<Begun<PasskeyCreationOptions>> {
      const { challenge, party, token } = await begin(origin, { purpose, userId })
      const options = {
        challenge,
        rp: { id: party.id, name: 'Inlet' },
        user: { id: handleOf(holder.id), name: holder.username, displayName: holder.name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: KEY_TYPE, alg })),
        timeout: TIMEOUT_MS,
        attestation: 'none',
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        excludeCredentials: userId === null ? [] : await existing(userId),
      }
      return { options, token }
    },

    /**
     * Returns the passkey that a browser created for a challenge, and what that was for.
     * @throws validation_failed
     */
    async complete<Name extends Exclude<PurposeName, 'sign in'>>({
      purpose,
      credential,
      token,
      path,
    }: NewCredential<Name>): Promise<Challenge<Name> & { passkey: CreatedPasskey }> {
      const challenge = await take(purpose, token)
      const created = challenge && (await credentialOf(credential, challenge.checks))
      if (!created) throw invalidCredential(path)
      const { transports = [] } = credential.response
      return { ...challenge, passkey: { ...created, rpId: challenge.checks.party.id, transports } }
    },
  }

  async function begin(origin: string, { purpose, userId }: { purpose: Purpose; userId: string | null }) {
    const party = relyingPartyOf({ publicUrl, origin })
    if (!party) throw passkeysNotAllowed()
    const challenge = randomBytes(32).toString('base64url')
    const token = randomBytes(32).toString('base64url')
    const checks: Checks = { kind: KIND, challenge, party, purpose }
    await repos.within(everywhere).signInAttempts.insert({ hash: hashOf(token), checks, userId })
    return { challenge, party, token }
  }

  /** Ends a challenge of this browser and returns it, if it was for this. */
  async function take<Name extends PurposeName>(
    name: Name,
    token: string | undefined,
  ): Promise<Challenge<Name> | undefined> {
    if (!token) return undefined
    const row = await repos.within(everywhere).signInAttempts.take(hashOf(token))
    // Cast: other ways to sign in have other checks, and another kind.
    const checks = row?.checks as Checks | undefined
    if (!row || checks?.kind !== KIND || checks.purpose.name !== name) return undefined
    return { userId: row.userId, checks, purpose: checks.purpose as Challenge<Name>['purpose'] }
  }

  async function existing(userId: string): Promise<PasskeyCreationOptions['excludeCredentials']> {
    const rows = await repos.within(everywhere).passkeys.list(userId, { limit: MAX_PASSKEYS })
    return rows.map(({ credentialId, transports }) => ({ id: credentialId, type: KEY_TYPE, transports }))
  }
}

/** Of attempts in the database, where other ways to sign in store theirs. */
const KIND = 'passkey'

const KEY_TYPE = 'public-key'

/** The ID of a person as a passkey stores it. */
export const handleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url')
