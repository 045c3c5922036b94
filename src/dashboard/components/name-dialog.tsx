import { Modal, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { FormEnd } from './form-end.tsx'
import { useFormDraft } from './use-form-draft.ts'

interface NameDialogProps {
  title: string
  /** On the button that saves. */
  verb: string
  /** What the draft of the name is kept as. */
  draftName: string
  name: string
  maxLength: number
  isBusy: boolean
  /** Resolves to undefined if it failed; then the dialog stays open. */
  onSave(name: string): Promise<unknown>
  onClose(): void
}

/** Gives something a name. */
export function NameDialog(props: NameDialogProps) {
  const { title, verb, maxLength, isBusy, onSave, onClose } = props
  const draft = useFormDraft(props.draftName, { name: props.name })
  const { name } = draft.values
  async function save(event: FormEvent) {
    event.preventDefault()
    if (!(await onSave(name.trim()))) return
    draft.discard()
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="stack" onSubmit={(event) => void save(event)}>
        <TextInput
          label="Name"
          dir="auto"
          data-autofocus
          maxLength={maxLength}
          value={name}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <FormEnd
          draft={draft}
          verb={verb}
          error={undefined}
          isBusy={isBusy}
          isDisabled={name.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}
