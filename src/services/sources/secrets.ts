import { hashOf } from '../../domain/secret.ts'
import { isStandardSecret } from '../../domain/sources/signature.ts'
import { type EncryptionKeys, seal, type Unsealed, unsealAll } from '../../domain/token-seal.ts'
import { encryptionKeyMissing, validationFailed } from '../../errors/index.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { VerifyScheme } from '../../schemas/source.ts'
import { type Reencrypt, reencryptedPrevious, validOf } from '../rotating-secrets.ts'

export type SourceSecrets = ReturnType<typeof sourceSecrets>

type Stored = Pick<SourceRow, 'id' | 'scheme' | 'secret' | 'previousSecrets'>

/** Whether a secret signs deliveries and is never sent: then it must be decrypted to verify one. */
const isSigning = (scheme: VerifyScheme) => scheme === 'standard_webhooks' || scheme === 'hmac_sha256_hex'

/** The secrets of sources: those that sign are encrypted, those that are sent are hashed. */
export function sourceSecrets({
  encryptionKeys: keys,
  randomBytes,
}: {
  /** Without them, no secret that signs can be stored. */
  encryptionKeys: EncryptionKeys | undefined
  randomBytes(size: number): Buffer
}) {
  return {
    /**
     * The secret to show, and what is stored of it.
     * @param given the sender's; if undefined, one is created.
     * @throws encryption_key_missing, validation_failed
     */
    secretFor({ id, scheme }: Pick<SourceRow, 'id' | 'scheme'>, given: string | undefined) {
      if (given !== undefined && scheme === 'standard_webhooks' && !isStandardSecret(given)) {
        const message = 'must be Base64 of at least 16 bytes, with or without whsec_'
        throw validationFailed([{ path: '/secret', code: 'wrong_format', message }])
      }
      const text = given ?? newSecret(scheme)
      if (!isSigning(scheme)) return { text, stored: hashOf(text) }
      if (!keys) throw encryptionKeyMissing()
      return { text, stored: seal(text, { keys, owner: ownerOf(id), randomBytes }) }
    },

    /** The hashes of the valid secrets, or the secrets themselves if they sign. */
    validOf(source: Stored, now: Date): Unsealed {
      const { id, scheme, secret, previousSecrets: previous } = source
      const stored = validOf({ secret, previous }, now)
      if (!isSigning(scheme)) return { texts: stored, isComplete: true }
      return unsealAll(stored, { keys, owner: ownerOf(id) })
    },
  }

  function newSecret(scheme: VerifyScheme): string {
    const bytes = randomBytes(32)
    return scheme === 'standard_webhooks'
      ? `whsec_${bytes.toString('base64')}`
      : `inls_${bytes.toString('base64url')}`
  }
}

/** The secrets of a source, encrypted again if they sign. */
export function reencryptedSource(source: SourceRow, reencrypt: Reencrypt): Partial<SourceRow> {
  const { id, scheme, secret, previousSecrets } = source
  if (!isSigning(scheme) || !hasSecret(source)) return {}
  const owner = ownerOf(id)
  return {
    secret: reencrypt(secret, { owner, name: 'secret' }),
    previousSecrets: reencryptedPrevious(previousSecrets, { reencrypt, owner, name: 'previous secret' }),
  }
}

/** Whether it has a secret: an imported source gets one when it is rotated. */
export const hasSecret = ({ secret }: Pick<Stored, 'secret'>) => secret !== ''

/** A secret that is copied to another source cannot be decrypted. */
const ownerOf = (sourceId: string) => `source:${sourceId}`
