import { useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { useMe } from './session.ts'
import SignInDialog from './sign-in-dialog.tsx'

/** For what needs a recent sign-in: asks to sign in again where the service does, and then continues. */
export function useSignInAgain(description: string) {
  const { me } = useMe()
  const [signingIn, setSigningIn] = useState<PromiseWithResolvers<boolean>>()

  async function recently<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send()
    } catch (error) {
      if (problemOf(error).code !== 'sign_in_again' || !(await signInAgain())) throw error
      return send()
    }
  }

  async function signInAgain(): Promise<boolean> {
    const attempt = Promise.withResolvers<boolean>()
    setSigningIn(attempt)
    const isSignedIn = await attempt.promise
    setSigningIn(undefined)
    return isSignedIn
  }

  const dialog = (
    <SignInDialog
      title="Sign in again"
      description={description}
      isOpen={signingIn !== undefined}
      me={me}
      onSignedIn={() => signingIn?.resolve(true)}
      onClose={() => signingIn?.resolve(false)}
    />
  )
  return { recently, dialog }
}
