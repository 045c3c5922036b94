import { Button, Modal } from '@mantine/core'
import { CopyBlock } from './copy-block.tsx'

interface SecretDialogProps {
  title: string
  secret: string
  /** What to do with it, such as a line to try it. */
  example?: string
  onStored(): void
}

/** A secret, shown once: no stray click and no key closes it. */
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
        <p style={{ margin: 0 }}>Copy it now. Inlet keeps only a fingerprint and cannot show it again.</p>
        <CopyBlock text={secret} />
        {example && <CopyBlock caption="Try it:" text={example} />}
        <div>
          <Button onClick={onStored}>I have stored it</Button>
        </div>
      </div>
    </Modal>
  )
}
