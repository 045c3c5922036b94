import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyBlock } from './copy-block.tsx'

interface SecretDialogProps {
  title: string
  secret: string
  /** A command that uses the secret. */
  example?: string
  /** What to do with it. */
  children?: ReactNode
  onStored(): void
}

/** Shows a secret once; neither Escape nor a click outside closes the dialog. */
export function SecretDialog({ title, secret, example, children, onStored }: SecretDialogProps) {
  return (
    <Modal
      opened
      onClose={() => {}}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <div className="stack">
        {children}
        <p style={{ margin: 0 }}>Copy the secret now. It won't be shown again.</p>
        <CopyBlock text={secret} />
        {example && <CopyBlock caption="Try it:" text={example} />}
        <div>
          <Button onClick={onStored}>I've stored it</Button>
        </div>
      </div>
    </Modal>
  )
}
