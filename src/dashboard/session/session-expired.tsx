import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { setSignedOutHandler } from '../api/client.ts'
import { DialogLoading, preload } from '../components/lazy.tsx'
import { useHasBeenTrue } from '../components/use-open-state.ts'
import { type Me, useMe } from './session.ts'

const SignInDialog = preload(() => import('./sign-in-dialog.tsx'))

/** Shows a sign-in dialog over the page when the session ends, so that no input is lost. */
export function SessionExpired() {
  const queryClient = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    setSignedOutHandler(() => setOpen(true))
    return () => setSignedOutHandler(() => {})
  }, [])
  useEscapeBlocked(isOpen)
  const me = useLastMe()
  const hasBeenOpen = useHasBeenTrue(isOpen)
  const onSignedIn = () => {
    setOpen(false)
    void queryClient.invalidateQueries()
  }
  return (
    <Suspense fallback={<DialogLoading />}>
      {hasBeenOpen && (
        <SignInDialog
          title="Your session has ended"
          description="Sign in again to continue. Your input is kept."
          isOpen={isOpen}
          me={me}
          onSignedIn={onSignedIn}
        />
      )}
    </Suspense>
  )
}

/** Who was signed in last, also after the session has ended. */
function useLastMe(): Me | null {
  const { me } = useMe()
  const last = useRef(me)
  if (me) last.current = me
  return last.current
}

/** Keeps Escape from closing dialogs below while the sign-in dialog is open. */
function useEscapeBlocked(isOpen: boolean) {
  const isBlocking = useRef(isOpen)
  isBlocking.current = isOpen
  // Dialogs listen on window too, and listeners run in the order they were added: so add this one first.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isBlocking.current) event.stopImmediatePropagation()
    }
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [])
}
