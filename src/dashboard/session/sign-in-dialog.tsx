import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { DEFAULT_WAYS, signInWaysQuery } from '../api/people-queries.ts'
import { useOpenAfterRender } from '../components/use-open-state.ts'
import type { Me } from './session.ts'
import { KeyForm, PersonForms } from './sign-in-form.tsx'

/** Above all other dialogs, which stay open with their input. */
const Z_INDEX = 1000

interface SignInDialogProps {
  title: string
  description: string
  isOpen: boolean
  /** Who was signed in: the form is for the same way. */
  me: Me | null
  onSignedIn(): void
  /** Without it, the dialog cannot be closed. */
  onClose?(): void
}

/** Signs in again, over the page. */
export default function SignInDialog(props: SignInDialogProps) {
  const { title, description, isOpen, me, onSignedIn, onClose } = props
  const { data: ways = DEFAULT_WAYS } = useQuery({ ...signInWaysQuery, enabled: isOpen })
  const isClosable = onClose !== undefined
  return (
    <Modal
      opened={useOpenAfterRender(isOpen)}
      onClose={() => onClose?.()}
      withCloseButton={isClosable}
      closeOnEscape={isClosable}
      closeOnClickOutside={isClosable}
      zIndex={Z_INDEX}
      title={title}
    >
      <p className="quiet">{description}</p>
      {me?.user ? (
        <div className="stack">
          <PersonForms
            ways={ways}
            username={me.user.username}
            returnTo={location.pathname + location.search}
            onSignedIn={onSignedIn}
          />
        </div>
      ) : (
        <KeyForm onSignedIn={onSignedIn} />
      )}
    </Modal>
  )
}
