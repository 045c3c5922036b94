import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { whenSignedOut } from '../api/client.ts'
import { DialogLoading, preload } from '../components/lazy.tsx'
import { useEver } from '../components/use-open-state.ts'

const SignInAgain = preload(() => import('./session-expired-dialog.tsx'))

/** A session that ends while somebody works: the page stays as it is behind the question for a key. */
export function SignedOutDialog() {
  const cache = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    whenSignedOut(() => setOpen(true))
    return () => whenSignedOut(() => {})
  }, [])
  useEscapeKept(isOpen)
  const isNeeded = useEver(isOpen)
  const onSignedIn = () => {
    setOpen(false)
    void cache.invalidateQueries()
  }
  return (
    <Suspense fallback={<DialogLoading />}>
      {isNeeded && <SignInAgain isOpen={isOpen} onSignedIn={onSignedIn} />}
    </Suspense>
  )
}

/** While the question stands, Escape closes nothing beneath it. */
function useEscapeKept(isOpen: boolean) {
  const isAsking = useRef(isOpen)
  isAsking.current = isOpen
  // Dialogs listen on the window as well, and who listens first is asked first: so before any of them is there.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isAsking.current) event.stopImmediatePropagation()
    }
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [])
}
