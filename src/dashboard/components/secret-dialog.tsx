import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyBlock } from './copy-block.tsx'

interface SecretDialogProps {
  title: string
  secret: string
  /** What it is called. */
  what?: 'secret' | 'link'
  /** A command that uses the secret. */
  example?: string
  /** What to do with it. */
  children?: ReactNode
  onStored(): void
}

/** Shows a secret once; neither Escape nor a click outside closes the dialog. */
export function SecretDialog(props: SecretDialogProps) {
  const { title, secret, what = 'secret', example, children, onStored } = props
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
        <p style={{ margin: 0 }}>Copy the {what} now. It won't be shown again.</p>
        <CopyBlock text={secret} />
        {example && <CopyBlock caption="Try it:" text={example} />}
        <div>
          <Button onClick={onStored}>{what === 'link' ? "I've copied it" : "I've stored it"}</Button>
        </div>
      </div>
    </Modal>
  )
}
