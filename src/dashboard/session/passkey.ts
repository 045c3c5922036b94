import type { Schema } from '../api/client.ts'
import { Problem } from '../api/problem.ts'

/** Whether this browser has passkeys, and reads and writes them as the service does. */
export const hasPasskeys = () =>
  'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** Asks for a passkey; undefined if the user cancels. */
export async function askForPasskey(
  options: Schema<'PasskeyRequestOptions'>,
): Promise<Schema<'PasskeyAssertion'> | undefined> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as RequestOptions)
  return resultOf(navigator.credentials.get({ publicKey }))
}

/**
 * Creates a passkey; undefined if the user cancels.
 * @throws Problem if the device has one for this account
 */
export async function createPasskey(
  options: Schema<'PasskeyCreationOptions'>,
): Promise<Schema<'PasskeyRegistration'> | undefined> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as CreationOptions)
  return resultOf(navigator.credentials.create({ publicKey }))
}

/** The service describes as text what TypeScript knows as choices. */
type RequestOptions = PublicKeyCredentialRequestOptionsJSON
type CreationOptions = PublicKeyCredentialCreationOptionsJSON

/** What the user does not want, or does not do in time, is no error. */
async function resultOf<Result>(asked: Promise<Credential | null>): Promise<Result | undefined> {
  try {
    // Casts: a request for a public key returns one, and its JSON is as the type of the request.
    const credential = (await asked) as PublicKeyCredential | null
    return credential?.toJSON() as Result | undefined
  } catch (error) {
    const name = error instanceof DOMException ? error.name : ''
    if (name === 'NotAllowedError' || name === 'AbortError') return undefined
    const detail = TEXTS[name]
    throw detail ? new Problem(0, { code: 'passkey_failed', detail }) : error
  }
}

/** By the name of the browser's error. */
const TEXTS: Record<string, string> = {
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys only work at the public address of Inlet. Open Inlet there.',
}
