import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { createPasskey } from '../session/passkey.ts'

interface NewPasskeyDialogProps {
  /** Runs what needs a recent sign-in. */
  recently<T>(send: () => Promise<T>): Promise<T>
  onAdded(): void
  onClose(): void
}

export function NewPasskeyDialog({ recently, onAdded, onClose }: NewPasskeyDialogProps) {
  const draft = useFormDraft('passkey', { name: '' })
  const { name } = draft.values
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)

  async function add(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      const options = await recently(() => dataOf(api.POST('/api/me/passkeys/challenge')))
      const credential = await createPasskey(options)
      if (!credential) return
      await dataOf(api.POST('/api/me/passkeys', { body: { name: name.trim(), credential } }))
      draft.discard()
      onAdded()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Modal opened onClose={onClose} title="Add a passkey">
      <form onSubmit={(event) => void add(event)} className="stack">
        <TextInput
          label="Name"
          description="To tell your passkeys apart. Your browser asks for the rest."
          placeholder="Laptop"
          required
          maxLength={100}
          value={name}
          error={problem?.byField['/name']}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
          data-autofocus
        />
        <FormEnd
          draft={draft}
          verb="Add passkey"
          error={problem?.byField['/name'] ? undefined : problem?.message}
          isBusy={isBusy}
          isDisabled={name.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}
