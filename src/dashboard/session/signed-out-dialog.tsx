import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
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
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
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
