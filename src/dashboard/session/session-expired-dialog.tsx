import { Modal } from '@mantine/core'
import { useOpenAfterRender } from '../components/use-open-state.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Above all other dialogs, which stay open with their input. */
const Z_INDEX = 1000

interface SessionExpiredDialogProps {
  isOpen: boolean
  onSignedIn(): void
}

export default function SessionExpiredDialog({ isOpen, onSignedIn }: SessionExpiredDialogProps) {
  return (
    <Modal
      opened={useOpenAfterRender(isOpen)}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={Z_INDEX}
      title="Your session has ended"
    >
      <p className="quiet">Sign in again to continue. Your input is kept.</p>
      <SignInForm onSignedIn={onSignedIn} />
    </Modal>
  )
}
