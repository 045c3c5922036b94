import { rpIdOf } from '../../domain/relying-party.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { redirectUrlOf } from './identity-providers.ts'
import type { ProviderDirectory } from './provider-directory.ts'

interface BrokenSignInsDeps {
  repos: Repositories
  directory: Pick<ProviderDirectory, 'listActive'>
  publicUrl: string | undefined
}

/** Returns a function that counts what worked under another public URL, and does not under this one. */
export function brokenSignIns({ repos, directory, publicUrl }: BrokenSignInsDeps) {
  return async function countBrokenSignIns(): Promise<{ passkeys: number; providers: number }> {
    const bound = repos.within(everywhere)
    const passkeys = await bound.passkeys.countOther(rpIdOf(publicUrl))
    const active = await directory.listActive(bound)
    // Only a sign-in shows what a provider returns to.
    const broken = (await bound.identities.listLastRedirects()).filter(
      ({ providerId, redirectUrl }) =>
        redirectUrl !== null &&
        redirectUrl !== redirectUrlOf(publicUrl, providerId) &&
        active.some(({ id }) => id === providerId),
    )
    return { passkeys, providers: broken.length }
  }
}
