import { Button, Modal } from '@mantine/core'
import { CopyBlock } from './copy-block.tsx'

interface SecretDialogProps {
  title: string
  secret: string
  /** A command that uses the secret. */
  example?: string
  onStored(): void
}

/** Shows a secret once; neither Escape nor a click outside closes the dialog. */
export function SecretDialog({ title, secret, example, onStored }: SecretDialogProps) {
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
