import { rpIdOf } from '../../domain/relying-party.ts'
import { lastWayIn } from '../../errors/index.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { ProviderDirectory } from './provider-directory.ts'

interface MethodsDeps {
  passwords: Pick<PasswordSignIn, 'isOn'>
  directory: Pick<ProviderDirectory, 'listActive'>
  publicUrl: string | undefined
}

/** Whether a person can sign in with it now. */
type SignInMethod = (repos: BoundRepositories, userId: string) => Promise<boolean>

export type SignInMethods = ReturnType<typeof signInMethods>

/** What people sign in with; nobody removes the last of their own. */
export function signInMethods({ passwords, directory, publicUrl }: MethodsDeps) {
  const rpId = rpIdOf(publicUrl)
  const hasPassword: SignInMethod = async (repos, userId) =>
    passwords.isOn && (await repos.users.findPasswordHash(userId)) !== undefined
  const hasPasskey: SignInMethod = async (repos, userId) =>
    rpId !== undefined && repos.passkeys.isAny(userId, rpId)
  const hasIdentity: SignInMethod = async (repos, userId) => {
    const active = await directory.listActive(repos)
    const linked = await repos.identities.list(userId)
    return linked.some(({ providerId }) => active.some(({ id }) => id === providerId))
  }
  const methods = [hasPassword, hasPasskey, hasIdentity]

  return {
    hasPasswords: passwords.isOn,
    rpId,

    /** Whether a passkey for this host name works here: others are no way to sign in. */
    isUsable: (passkey: { rpId: string }): boolean => passkey.rpId === rpId,

    /**
     * To be called after one was removed, in the same transaction, with the person's row locked: of two that are removed
     * at once, the second finds what the first left.
     * @throws last_way_in
     */
    async requireOne(repos: BoundRepositories, userId: string): Promise<void> {
      for (const isLeft of methods) if (await isLeft(repos, userId)) return
      throw lastWayIn()
    },
  }
}
