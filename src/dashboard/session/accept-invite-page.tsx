import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, dataOf, responseOf, type Schema } from '../api/client.ts'
import { DEFAULT_WAYS, signInWaysQuery } from '../api/people-queries.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useNavigation } from '../navigation/location-provider.tsx'
import { AcceptAtProvider } from './accept-at-provider.tsx'
import { NewPasswordForm, NewPersonForm } from './new-person-form.tsx'
import { createPasskey, hasPasskeys } from './passkey.ts'
import { SignedOutPage } from './signed-out-page.tsx'

/** For somebody new. */
export function InvitePage() {
  const { secret, isInvalid, accept, acceptWithPasskey } = useInvite()
  const { hasPassword, isPasskeyPossible, providers } = useWays()
  const isUsable = secret !== '' && !isInvalid
  const atProvider = (username: string) =>
    providers.length > 0 && (
      <>
        <AcceptAtProvider secret={secret} providers={providers} username={username} />
        <p className="quiet">Or sign in with what you choose here:</p>
      </>
    )
  return (
    <SignedOutPage title="Create your account">
      {!isUsable && <Unusable what="invite" isInvalid={isInvalid} />}
      {isUsable && !hasPassword && !isPasskeyPossible && (
        <AcceptAtProvider secret={secret} providers={providers} />
      )}
      {isUsable && (hasPassword || isPasskeyPossible) && (
        <NewPersonForm
          verb="Create account"
          // The start of the secret tells invites apart, and opens nothing.
          draftName={`invited-person:${secret.slice(0, 8)}`}
          isNameOptional
          hasPassword={hasPassword}
          others={atProvider}
          onSubmit={(person) => accept(person)}
          onPasskey={isPasskeyPossible ? acceptWithPasskey : undefined}
        />
      )}
    </SignedOutPage>
  )
}

/** For a person who has lost the password. */
export function NewPasswordPage() {
  const { secret, isInvalid, accept, acceptWithPasskey } = useInvite()
  const { hasPassword, isPasskeyPossible, providers } = useWays()
  return (
    <SignedOutPage title="Choose a new password">
      {secret && !isInvalid ? (
        <>
          <p className="quiet">You are signed out in all other browsers.</p>
          <AcceptAtProvider secret={secret} providers={providers} isForPerson />
          {hasPassword && (
            <NewPasswordForm verb="Set password" onSubmit={(password) => accept({ password })} />
          )}
          {isPasskeyPossible && <PasskeyInstead onPasskey={() => acceptWithPasskey({})} />}
        </>
      ) : (
        <Unusable what="link" isInvalid={isInvalid} />
      )}
    </SignedOutPage>
  )
}

/** Instead of a new password. */
function PasskeyInstead({ onPasskey }: { onPasskey(): Promise<unknown> }) {
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)

  async function create() {
    setBusy(true)
    setProblem(undefined)
    try {
      await onPasskey()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="stack">
      <p className="quiet">Or create a passkey instead. Your password is then removed.</p>
      {problem && <ErrorText>{problem.message}</ErrorText>}
      <Button variant="default" size="md" fullWidth loading={isBusy} onClick={() => void create()}>
        Create a passkey
      </Button>
    </div>
  )
}

function Unusable({ what, isInvalid }: { what: 'invite' | 'link'; isInvalid: boolean }) {
  return (
    <p role={isInvalid ? 'alert' : undefined}>
      {isInvalid
        ? `This ${what} is no longer valid: it was used or withdrawn, or it has expired. Ask for a new one.`
        : `This address is incomplete: it has no secret. Open the whole ${what} that you were sent, or ask for a new one.`}
    </p>
  )
}

function useInvite() {
  const secret = useSecretInAddress()
  const [invalidSecret, setInvalidSecret] = useState<string>()

  const accept = (chosen: Omit<Schema<'InviteAcceptance'>, 'secret'>) =>
    unlessInvalid(async () => {
      await responseOf(api.POST('/api/invites/accept', { body: { secret, ...chosen } }), { isSignIn: true })
      // A full page load drops what belongs to whoever was signed in before.
      location.replace('/')
    })

  const acceptWithPasskey = (names: Omit<Schema<'InvitePasskey'>, 'secret'>) =>
    unlessInvalid(async () => {
      const body = { secret, ...names }
      const options = await dataOf(api.POST('/api/invites/passkey-challenge', { body }))
      const passkey = await createPasskey(options)
      if (!passkey) return false
      await accept({ ...names, passkey })
      return true
    })

  async function unlessInvalid<T>(send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await send()
    } catch (error) {
      if (problemOf(error).code !== 'invite_invalid') throw error
      setInvalidSecret(secret)
      return undefined
    }
  }

  return { secret, isInvalid: secret !== '' && secret === invalidSecret, accept, acceptWithPasskey }
}

/** What somebody can sign in with afterwards. */
function useWays() {
  const { data: ways = DEFAULT_WAYS } = useQuery(signInWaysQuery)
  const { password: hasPassword, passkeys, providers } = ways
  return { hasPassword, isPasskeyPossible: passkeys && hasPasskeys(), providers }
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
