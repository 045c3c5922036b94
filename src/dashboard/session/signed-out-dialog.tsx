import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { whenSignedOut } from '../api/client.ts'
import { SignInForm } from './sign-in-form.tsx'

/** A session that ends while somebody works: the page stays as it is behind the question for a key. */
export function SignedOutDialog() {
  const cache = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    whenSignedOut(() => setOpen(true))
    return () => whenSignedOut(() => {})
  }, [])
  useEscapeKept(isOpen)
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={ABOVE_ALL}
      title="Your session has ended"
    >
      <p className="quiet">Nothing you wrote is lost. Sign in and go on where you were.</p>
      <SignInForm
        onSignedIn={() => {
          setOpen(false)
          void cache.invalidateQueries()
        }}
      />
    </Modal>
  )
}

/** Other dialogs stay open beneath it, with what is being written in them. */
const ABOVE_ALL = 1000

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
