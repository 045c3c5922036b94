import { type EncryptionKeys, seal, unseal } from '../../domain/token-seal.ts'
import { encryptionKeyMissing } from '../../errors/index.ts'
import type { IdentityProviderRow } from '../../repositories/people/identity-providers.ts'
import type { Reencrypt } from '../rotating-secrets.ts'

export type ProviderSecrets = ReturnType<typeof providerSecrets>

/** The client secrets of identity providers, which are encrypted. */
export function providerSecrets({
  encryptionKeys: keys,
  randomBytes,
}: {
  /** Without them, no secret can be stored. */
  encryptionKeys: EncryptionKeys | undefined
  randomBytes(size: number): Buffer
}) {
  return {
    /** @throws encryption_key_missing */
    store(id: string, text: string): string {
      if (!keys) throw encryptionKeyMissing()
      return seal(text, { keys, owner: ownerOf(id), randomBytes })
    },

    /** Undefined if it cannot be decrypted. */
    read({ id, clientSecret }: Pick<IdentityProviderRow, 'id' | 'clientSecret'>): string | undefined {
      return keys && unseal(clientSecret, { keys, owner: ownerOf(id) })
    },
  }
}

/** The secret of a provider, encrypted again. */
export const reencryptedProvider = ({ id, clientSecret }: IdentityProviderRow, reencrypt: Reencrypt) => ({
  clientSecret: reencrypt(clientSecret, { owner: ownerOf(id), name: 'client secret' }),
})

/** A secret that is copied to another row cannot be decrypted. */
const ownerOf = (providerId: string) => `identity-provider:${providerId}`
