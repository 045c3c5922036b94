import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'

export const Passkey = Type.Object(
  {
    id: Uuid('The ID of the passkey.'),
    name: Type.String({ description: 'The name of the passkey.' }),
    rpId: Type.String({ description: 'The host name that the passkey works at.' }),
    createdAt: DateTime('When the passkey was added.'),
    lastUsedAt: Nullable(DateTime('When somebody last signed in with the passkey, or null if never.')),
  },
  { $id: 'Passkey', description: 'A passkey of a person, without its key.' },
)
export type Passkey = Static<typeof Passkey>

export const PasskeyPage = PageOf(ref(Passkey), { description: 'A page of passkeys.' })

/** Bytes as browsers write them in JSON. */
const Bytes = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+$',
    'x-words': 'bytes in base64url',
    description,
  })

/** At most 1,023 bytes. */
const CredentialId = Bytes(1_364, 'The ID of the credential.')
const ClientData = Bytes(2_048, 'What the browser was asked for, and by which page.')

/** Browsers have members of their own, more with each version. */
const AS_JSON = 'as its `toJSON()` returns it. Further members are ignored.'

export const PasskeyAssertion = Type.Object(
  {
    id: CredentialId,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        authenticatorData: Bytes(2_048, 'What the authenticator states.'),
        signature: Bytes(1_024, 'The signature of both.'),
        userHandle: Bytes(100, 'Whose passkey it is.'),
      },
      { description: 'What the authenticator returned.' },
    ),
  },
  {
    $id: 'PasskeyAssertion',
    description: `The result of \`navigator.credentials.get()\`, ${AS_JSON}`,
  },
)
export type PasskeyAssertion = Static<typeof PasskeyAssertion>

export const PasskeyRegistration = Type.Object(
  {
    id: CredentialId,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        attestationObject: Bytes(4_096, 'The public key, and what the authenticator states.'),
        transports: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 32, description: 'A transport.' }), {
            maxItems: 10,
            description: 'How browsers reach the authenticator.',
          }),
        ),
      },
      { description: 'What the authenticator returned.' },
    ),
  },
  {
    $id: 'PasskeyRegistration',
    description: `The result of \`navigator.credentials.create()\`, ${AS_JSON}`,
  },
)
export type PasskeyRegistration = Static<typeof PasskeyRegistration>

export const NewPasskey = StrictObject(
  {
    name: TrimmedString(100, {
      description: 'A name to tell passkeys apart by, 1 to 100 characters after trimming.',
      examples: ['Laptop'],
    }),
    credential: ref(PasskeyRegistration),
  },
  { $id: 'NewPasskey', description: 'A passkey that the browser created.' },
)
export type NewPasskey = Static<typeof NewPasskey>

const Challenge = Type.String({ description: 'What the authenticator signs, in base64url.' })
const Timeout = Type.Integer({ description: 'How long the browser waits, in milliseconds.' })
const KEY_TYPE = Type.String({ description: 'Always `public-key`.' })

export const PasskeyRequestOptions = Type.Object(
  {
    challenge: Challenge,
    rpId: Type.String({ description: 'The host name that the passkey must be for.' }),
    timeout: Timeout,
    userVerification: Type.String({ description: 'Always `required`.' }),
  },
  {
    $id: 'PasskeyRequestOptions',
    description:
      'For `navigator.credentials.get()`, as `PublicKeyCredential.parseRequestOptionsFromJSON()` reads it.',
  },
)
export type PasskeyRequestOptions = Static<typeof PasskeyRequestOptions>

export const PasskeyCreationOptions = Type.Object(
  {
    challenge: Challenge,
    rp: Type.Object(
      {
        id: Type.String({ description: 'The host name that the passkey will work at.' }),
        name: Type.String({ description: 'The name of the service.' }),
      },
      { description: 'What the passkey is for.' },
    ),
    user: Type.Object(
      {
        id: Type.String({ description: 'The ID of the person, in base64url.' }),
        name: Type.String({ description: 'The username.' }),
        displayName: Type.String({ description: 'The name that others see.' }),
      },
      { description: 'Whose passkey it will be.' },
    ),
    pubKeyCredParams: Type.Array(
      Type.Object(
        { type: KEY_TYPE, alg: Type.Integer({ description: 'Its COSE number.' }) },
        { description: 'An algorithm.' },
      ),
      { maxItems: 10, description: 'The algorithms to choose from.' },
    ),
    timeout: Timeout,
    attestation: Type.String({ description: 'Always `none`.' }),
    authenticatorSelection: Type.Object(
      {
        residentKey: Type.String({ description: 'Always `required`.' }),
        requireResidentKey: Type.Boolean({ description: 'Always true.' }),
        userVerification: Type.String({ description: 'Always `required`.' }),
      },
      { description: 'What the authenticator must be capable of.' },
    ),
    excludeCredentials: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The ID of its credential.' }),
          type: KEY_TYPE,
          transports: Type.Array(Type.String(), { maxItems: 10, description: 'How browsers reach it.' }),
        },
        { description: 'A passkey.' },
      ),
      { maxItems: 20, description: 'The passkeys that the person has.' },
    ),
  },
  {
    $id: 'PasskeyCreationOptions',
    description:
      'For `navigator.credentials.create()`, as `PublicKeyCredential.parseCreationOptionsFromJSON()` reads it.',
  },
)
export type PasskeyCreationOptions = Static<typeof PasskeyCreationOptions>
