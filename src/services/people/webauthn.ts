import type { RelyingParty } from '../../domain/relying-party.ts'
import type { PasskeyRow } from '../../repositories/people/passkeys.ts'
import type { PasskeyAssertion, PasskeyRegistration } from '../../schemas/passkey.ts'

/** COSE numbers: Ed25519, ES256 and RS256, which authenticators have between them. */
export const ALGORITHMS = [-8, -7, -257]

/** Loaded with the first passkey: it takes memory that most installations have other uses for. */
const library = () => import('@simplewebauthn/server')

interface Expected {
  challenge: string
  party: RelyingParty
}

type Credential = Pick<PasskeyRow, 'credentialId' | 'publicKey' | 'counter'>

/** Returns the counter of a passkey that signed the challenge; undefined if anything about it is not as expected. */
export async function counterOf(
  { id, response }: PasskeyAssertion,
  { challenge, party, passkey }: Expected & { passkey: Credential },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await library()
  const checking = verifyAuthenticationResponse({
    response: { ...credentialWith(id), response },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
    },
  })
  const { verified, authenticationInfo } = await checking.catch(() => REFUSED)
  return verified ? authenticationInfo?.newCounter : undefined
}

/** Returns a credential that was created for the challenge; undefined if anything about it is not as expected. */
export async function credentialOf(
  { id, response }: PasskeyRegistration,
  { challenge, party }: Expected,
): Promise<Credential | undefined> {
  const { verifyRegistrationResponse } = await library()
  const { clientDataJSON, attestationObject } = response
  const checking = verifyRegistrationResponse({
    response: { ...credentialWith(id), response: { clientDataJSON, attestationObject } },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  const { registrationInfo } = await checking.catch(() => ({ ...REFUSED, registrationInfo: undefined }))
  if (!registrationInfo) return undefined
  const { credential } = registrationInfo
  const { counter } = credential
  return { credentialId: credential.id, publicKey: Buffer.from(credential.publicKey), counter }
}

/** What the library expects around a response. */
const credentialWith = (id: string) =>
  ({ id, rawId: id, type: 'public-key', clientExtensionResults: {} }) as const

/** It throws for whatever is not as expected. */
const REFUSED = { verified: false, authenticationInfo: undefined }
