import { Modal } from '@mantine/core'
import { useOpened } from '../components/use-open-state.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Other dialogs stay open beneath it, with what is being written in them. */
const ABOVE_ALL = 1000

interface SignInAgainProps {
  isOpen: boolean
  onSignedIn(): void
}

/** The question for a key, over whatever somebody is doing. */
export default function SignInAgain({ isOpen, onSignedIn }: SignInAgainProps) {
  return (
    <Modal
      opened={useOpened(isOpen)}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={ABOVE_ALL}
      title="Your session has ended"
    >
      <p className="quiet">Nothing you wrote is lost. Sign in and go on where you were.</p>
      <SignInForm onSignedIn={onSignedIn} />
    </Modal>
  )
}
