import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { createPasskey } from '../session/passkey.ts'

interface NewPasskeyDialogProps {
  /** Runs what needs a recent sign-in. */
  recently<T>(send: () => Promise<T>): Promise<T>
  onAdded(): void
  onClose(): void
}

export function NewPasskeyDialog({ recently, onAdded, onClose }: NewPasskeyDialogProps) {
  const [name, setName] = useState('')
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
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        {problem && !problem.byField['/name'] && <ErrorText>{problem.message}</ErrorText>}
        <div className="row">
          <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
            Add passkey
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Modal>
  )
}
