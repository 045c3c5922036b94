import { useEffect, useState } from 'react'
import { api, responseOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { useNavigation } from '../navigation/location-provider.tsx'
import { NewPasswordForm, NewPersonForm } from './new-person-form.tsx'
import { SignedOutPage } from './signed-out-page.tsx'

/** For somebody new. */
export function InvitePage() {
  const { secret, isInvalid, accept } = useInvite()
  return (
    <SignedOutPage title="Create your account">
      {secret && !isInvalid ? (
        <NewPersonForm verb="Create account" isNameOptional onSubmit={(person) => accept(person)} />
      ) : (
        <Unusable what="invite" isInvalid={isInvalid} />
      )}
    </SignedOutPage>
  )
}

/** For a person who has lost the password. */
export function NewPasswordPage() {
  const { secret, isInvalid, accept } = useInvite()
  return (
    <SignedOutPage title="Choose a new password">
      {secret && !isInvalid ? (
        <>
          <p className="quiet">You are signed out in all other browsers.</p>
          <NewPasswordForm verb="Set password" onSubmit={(password) => accept({ password })} />
        </>
      ) : (
        <Unusable what="link" isInvalid={isInvalid} />
      )}
    </SignedOutPage>
  )
}

function Unusable({ what, isInvalid }: { what: 'invite' | 'link'; isInvalid: boolean }) {
  return (
    <p role={isInvalid ? 'alert' : undefined}>
      {isInvalid
        ? `This ${what} is no longer valid: it was used or withdrawn, or it has expired.`
        : `This address is incomplete: it has no secret. Open the whole ${what} that you were sent.`}{' '}
      {what === 'invite' ? 'Ask for a new invite.' : 'Ask for a new link.'}
    </p>
  )
}

function useInvite() {
  const secret = useSecretInAddress()
  const [invalidSecret, setInvalidSecret] = useState<string>()

  async function accept(chosen: Omit<Schema<'InviteAcceptance'>, 'secret'>) {
    try {
      await responseOf(api.POST('/api/invites/accept', { body: { secret, ...chosen } }), { isSignIn: true })
      // A full page load drops what belongs to whoever was signed in before.
      location.replace('/tasks')
    } catch (error) {
      if (problemOf(error).code === 'invite_invalid') setInvalidSecret(secret)
      else throw error
    }
  }

  return { secret, isInvalid: secret !== '' && secret === invalidSecret, accept }
}

/** Takes the secret out of the address, so that it stays in no history. */
function useSecretInAddress(): string {
  const { hash } = useNavigation().url
  const [secret, setSecret] = useState(hash.slice(1))
  useEffect(() => {
    if (hash.length < 2) return
    setSecret(hash.slice(1))
    history.replaceState(history.state, '', location.pathname)
  }, [hash])
  return secret
}
