import { type ReactNode, useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { useMe } from '../session/session.ts'
import SignInDialog from '../session/sign-in-dialog.tsx'

interface RecentSignIn {
  /** Does what needs a recent sign-in: if the service asks for one, so does a dialog, and it is done after that. */
  withRecentSignIn<T>(work: () => Promise<T>): Promise<T>
  signInDialog: ReactNode
}

/** For changes of what a person signs in with. */
export function useRecentSignIn(): RecentSignIn {
  const { me } = useMe()
  const [signingIn, setSigningIn] = useState<PromiseWithResolvers<boolean>>()

  async function withRecentSignIn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (problemOf(error).code !== 'sign_in_again' || !(await signInAgain())) throw error
      return work()
    }
  }

  async function signInAgain(): Promise<boolean> {
    const attempt = Promise.withResolvers<boolean>()
    setSigningIn(attempt)
    const isSignedIn = await attempt.promise
    setSigningIn(undefined)
    return isSignedIn
  }

  const signInDialog = (
    <SignInDialog
      title="Sign in again"
      description="You signed in more than ten minutes ago. Sign in again to change what you sign in with."
      isOpen={signingIn !== undefined}
      me={me}
      onSignedIn={() => signingIn?.resolve(true)}
      onClose={() => signingIn?.resolve(false)}
    />
  )
  return { withRecentSignIn, signInDialog }
}
