import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'

interface RenameDialogProps {
  title: string
  name: string
  maxLength: number
  isBusy: boolean
  /** Resolves to undefined if it failed; then the dialog stays open. */
  onRename(name: string): Promise<unknown>
  onClose(): void
}

export function RenameDialog({ title, name, maxLength, isBusy, onRename, onClose }: RenameDialogProps) {
  const [text, setText] = useState(name)
  async function rename(event: FormEvent) {
    event.preventDefault()
    if (await onRename(text.trim())) onClose()
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="stack" onSubmit={(event) => void rename(event)}>
        <TextInput
          label="Name"
          data-autofocus
          maxLength={maxLength}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" loading={isBusy} disabled={text.trim() === ''}>
            Rename
          </Button>
        </div>
      </form>
    </Modal>
  )
}
