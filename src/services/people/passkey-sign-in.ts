import { invalidPasskey } from '../../errors/index.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { PasskeyAssertion } from '../../schemas/passkey.ts'
import type { UsedPasskey } from '../sessions.ts'
import { handleOf, type PasskeyChallenges } from './passkey-challenges.ts'
import { counterOf } from './webauthn.ts'

interface PasskeySignInDeps {
  credentials: Pick<Repositories['credentials'], 'passkeys'>
  challenges: Pick<PasskeyChallenges, 'beginSignIn' | 'takeSignIn'>
}

interface Signed {
  assertion: PasskeyAssertion
  /** The cookie of the challenge. */
  token: string | undefined
}

/** Signs people in with their passkeys, which tell who they are. */
export function passkeySignIn({ credentials, challenges }: PasskeySignInDeps) {
  return {
    begin: challenges.beginSignIn,

    /** @throws invalid_credentials, the same whatever is wrong */
    async check({ assertion, token }: Signed): Promise<UsedPasskey> {
      const challenge = await challenges.takeSignIn(token)
      if (!challenge) throw invalidPasskey()
      const { checks } = challenge
      const found = await credentials.passkeys.find(assertion.id)
      if (!found || found.passkey.rpId !== checks.party.id) throw invalidPasskey()
      const { passkey, user } = found
      if (assertion.response.userHandle !== handleOf(user.id)) throw invalidPasskey()
      const counter = await counterOf(assertion, { ...checks, passkey })
      if (counter === undefined) throw invalidPasskey()
      return { id: passkey.id, user, counter }
    },
  }
}
